"""Label Studio's JSON: regions joined by relations are one entity, and all else of a task stays."""

from __future__ import annotations

import json

import pytest

from trigner.corpora import read, write
from trigner.mentions import Document, Entity, Extra

TEXT = "pain in hands and legs"


def region(id, start, end, *labels, **more):
    value = {"start": start, "end": end, "text": TEXT[start:end], "labels": list(labels)}
    usual = {"from_name": "label", "to_name": "text", "type": "labels"}
    return {**usual, "id": id, "value": value, **more}


def relation(one, other, *labels):
    ends = {"from_id": one, "to_id": other, "type": "relation", "direction": "right"}
    return {**ends, **({"labels": list(labels)} if labels else {})}


def task(*results, data=None, **more):
    annotation = {"id": 7, "completed_by": 1, "result": list(results), "was_cancelled": False}
    return {"id": 3, "data": {"text": TEXT, **(data or {})}, "annotations": [annotation], **more}


def file_of(root, *tasks):
    path = root / "tasks.json"
    path.write_text(json.dumps(list(tasks)), "utf-8")
    return path


def found(document):
    return [(e.label, e.fragments, e.id) for e in document.entities]


def test_an_export_is_recognised_and_read(tmp_path):
    corpus = read(file_of(tmp_path, task(region("a", 0, 4, "ADR"), data={"patient": "p1"})))
    assert corpus.format == "label-studio"
    assert corpus.notices == ()
    (document,) = corpus.documents
    assert (document.id, document.fields) == ("3", {"patient": "p1"})
    assert found(document) == [("ADR", ((0, 4),), "a")]


@pytest.mark.parametrize("ends", ["ba", "ab"])
@pytest.mark.parametrize("name", [(), ("discontinuous",)])
def test_joined_regions_of_one_label_are_one_entity(tmp_path, name, ends):
    path = file_of(
        tmp_path,
        task(
            region("b", 18, 22, "ADR"),
            region("a", 0, 4, "ADR"),
            region("c", 8, 13, "Body"),
            relation(*ends, *name),
            relation("a", "c"),
        ),
    )
    (document,) = read(path).documents
    assert found(document) == [("ADR", ((0, 4), (18, 22)), "a"), ("Body", ((8, 13),), "c")]
    write([document], tmp_path / "again.json", format="label-studio")
    results = json.loads((tmp_path / "again.json").read_text())[0]["annotations"][0]["result"]
    assert results[2]["labels"] == ["discontinuous"]
    assert (results[2]["from_id"], results[2]["to_id"]) == ("a", "a.2")
    assert {**relation("a", "c")} == results[-1]  # of other labels: it joins nothing, and is kept


def test_named_relations_are_kept_and_point_to_entities(tmp_path):
    path = file_of(
        tmp_path,
        task(
            region("a", 0, 4, "ADR"),
            region("b", 18, 22, "ADR"),
            region("c", 8, 13, "ADR"),
            relation("a", "b", "discontinuous"),
            relation("b", "c", "same as"),
        ),
    )
    (document,) = read(path).documents
    assert len(document.entities) == 2
    write([document], tmp_path / "again.json", format="label-studio")
    assert read(tmp_path / "again.json").documents == (document,)
    results = json.loads((tmp_path / "again.json").read_text())[0]["annotations"][0]["result"]
    assert results[-1] == relation("a", "c", "same as")


def test_a_joining_relation_between_other_labels_is_bad(tmp_path, refused):
    joining = relation("a", "b", "discontinuous")
    path = file_of(tmp_path, task(region("a", 0, 4, "X"), region("b", 8, 13, "Y"), joining))
    with refused("tasks.json", 1):
        read(path)
    corpus = read(path, skip_bad=True)
    assert (corpus.left_out, len(corpus.documents[0].entities)) == (1, 2)


def test_a_region_with_two_labels_is_two_entities(tmp_path):
    both = (region("a", 0, 4, "X", "Y"), region("b", 8, 13, "Y"), relation("a", "b"))
    (document,) = read(file_of(tmp_path, task(*both))).documents
    assert [(label, fragments) for label, fragments, _ in found(document)] == [
        ("X", ((0, 4),)),
        ("Y", ((0, 4), (8, 13))),
    ]


def test_a_label_twice_is_one_entity_and_the_first_region_has_its_fields(tmp_path):
    path = file_of(
        tmp_path,
        task(
            region("a", 0, 4, "X", "X", origin="manual", first=1),
            region("b", 8, 13, "X", origin="prediction", second=2),
            relation("a", "b"),
        ),
    )
    (document,) = read(path).documents
    assert found(document) == [("X", ((0, 4), (8, 13)), "a")]
    assert document.entities[0].fields == {"origin": "manual", "first": 1, "second": 2}


def test_a_prediction_beside_an_annotation_is_kept_without_a_word(tmp_path):
    given = task(region("a", 0, 4, "ADR"), predictions=[{"result": [region("p", 8, 13, "Body")]}])
    corpus = read(file_of(tmp_path, given))
    assert corpus.notices == ()
    assert found(corpus.documents[0]) == [("ADR", ((0, 4),), "a")]
    write(corpus.documents, tmp_path / "again.json", format="label-studio")
    (again,) = json.loads((tmp_path / "again.json").read_text())
    assert again["predictions"] == given["predictions"]


def test_what_a_task_cannot_hold_is_counted(tmp_path):
    entity = Entity("ADR", ((0, 4),), "pain", id="a")
    again = Entity(
        "ADR", ((8, 13),), "hands", id="a", fields={"value": 1, "type": "choice", "n": 2}
    )
    kept = {"result": [region("x", 18, 22, "ADR")], "annotation": {"was_cancelled": True}}
    extras = (Extra("label-studio", json.dumps(kept)), Extra("other", "x"))
    document = Document("d", TEXT, (entity, again), extras=extras, words=((0, 4), (5, 22)))
    report = write([document], tmp_path / "a.json", format="label-studio")
    assert {kind: n for kind, n in report.dropped.items() if n} == {
        "entity ids": 1,
        "fields of entities": 2,
        "relations or notes": 1,
        "extras of other formats": 1,
        "given word boundaries": 1,
    }
    (back,) = read(tmp_path / "a.json").documents
    assert [own.fragments for own in back.entities] == [((0, 4),), ((8, 13),)]
    assert back.entities[0].id == "a" != back.entities[1].id
    assert back.entities[1].fields == {"n": 2}


def test_an_annotation_beside_a_prediction_is_counted_and_not_written(tmp_path):
    scored = (Entity("ADR", ((0, 4),), "pain", 0.5),)
    kept = Extra("label-studio", json.dumps({"annotations": [{"id": 8, "result": []}]}))
    document = Document("d", TEXT, scored, extras=(kept,))
    report = write([document], tmp_path / "a.json", format="label-studio")
    assert report.dropped["annotations in addition to a prediction"] == 1
    (back,) = read(tmp_path / "a.json").documents
    assert [own.score for own in back.entities] == [0.5]


def test_all_else_of_a_task_stays(tmp_path):
    choice = {"id": "a", "type": "choices", "value": {"start": 0, "end": 4, "choices": ["neg"]}}
    other = {"id": 8, "result": []}
    given = task(
        region("a", 0, 4, "ADR", origin="manual", meta={"text": ["x"]}),
        choice,
        data={"id": "post-1"},
        meta={"a": 1},
    )
    given["annotations"].append(other)
    corpus = read(file_of(tmp_path, given))
    assert [notice.message for notice in corpus.notices] == [
        "a task with 2 annotations: the first is read"
    ]
    (document,) = corpus.documents
    assert document.id == "post-1"
    assert document.entities[0].fields == {"origin": "manual", "meta": {"text": ["x"]}}
    write([document], tmp_path / "again.json", format="label-studio")
    (again,) = json.loads((tmp_path / "again.json").read_text())
    assert again == given


def test_scored_entities_are_a_prediction_and_come_back(tmp_path):
    entity = Entity("ADR", ((0, 4), (8, 13)), "pain hands", 0.5, "e1", {"negated": True})
    document = Document("d", TEXT, (entity,), fields={"patient": 4})
    report = write([document], tmp_path / "a.json", format="label-studio")
    assert not any(report.dropped.values())
    (task,) = json.loads((tmp_path / "a.json").read_text())
    assert "annotations" not in task
    corpus = read(tmp_path / "a.json")
    assert corpus.documents == (document,)
    assert [n.message for n in corpus.notices] == [
        "item 1: a task without annotations: the first prediction is read"
    ]


def test_fields_that_are_null_come_back(tmp_path):
    entity = Entity("ADR", ((0, 4),), "pain", id="e1", fields={"code": None, "from_name": None})
    document = Document("d", TEXT, (entity,), fields={"patient": None})
    report = write([document], tmp_path / "a.json", format="label-studio")
    assert not any(report.dropped.values())
    assert read(tmp_path / "a.json").documents == (document,)


def test_skipped_tasks_are_left_out_and_told(tmp_path):
    skipped = task()
    skipped["annotations"][0]["was_cancelled"] = True
    corpus = read(file_of(tmp_path, skipped, {**task(region("a", 0, 4, "X")), "id": 4}))
    assert [d.id for d in corpus.documents] == ["4"]
    assert [n.message for n in corpus.notices] == ["a task left out: its annotators skipped it"]


def test_the_text_may_have_another_name(tmp_path, refused):
    own = {"data": {"post": TEXT}, "annotations": [{"result": [region("a", 0, 4, "X")]}]}
    path = file_of(tmp_path, own)
    assert read(path).documents[0].text == TEXT
    own["data"]["title"] = "t"
    path = file_of(tmp_path, own)
    with refused("tasks.json", 1):
        read(path)
    with refused("tasks.json", 1):
        read(file_of(tmp_path, {**own, "data": {"post": TEXT}}), text_column="pots")
    path = file_of(tmp_path, own)
    (document,) = read(path, text_column="post").documents
    assert (document.text, document.fields) == (TEXT, {"title": "t"})


def test_predictions_without_scores_are_predictions_again(tmp_path):
    given = task(region("a", 0, 4, "ADR"))
    given["predictions"] = [{**given.pop("annotations")[0], "model_version": "m1"}]
    corpus = read(file_of(tmp_path, given))
    write(corpus.documents, tmp_path / "again.json", format="label-studio")
    (again,) = json.loads((tmp_path / "again.json").read_text())
    assert "annotations" not in again
    assert again["predictions"] == given["predictions"]
    assert read(tmp_path / "again.json").documents == corpus.documents


def test_a_task_that_is_only_a_prediction_has_no_extra(tmp_path):
    given = {"data": {"text": TEXT}, "predictions": [{"result": [region("a", 0, 4, "ADR")]}]}
    (document,) = read(file_of(tmp_path, given)).documents
    assert document.extras == ()


def test_names_of_further_fragments_are_no_other_entitys(tmp_path):
    path = file_of(
        tmp_path,
        task(
            region("a", 0, 4, "ADR"),
            region("x", 8, 13, "ADR"),
            region("a.2", 18, 22, "ADR"),
            relation("a", "x", "discontinuous"),
            relation("a.2", "a", "same as"),
            relation("a.3", "a", "refers to nothing"),
        ),
    )
    (document,) = read(path).documents
    write([document], tmp_path / "again.json", format="label-studio")
    assert read(tmp_path / "again.json").documents == (document,)


@pytest.mark.parametrize("between", ["\n", "\r\n", " \\n \n"])
def test_line_ends_are_written_as_the_editor_does(tmp_path, between, refused):
    text = f"severe{between}leg pain"
    end = text.index(" pain")
    shown = text[:end].replace("\r", "\\n").replace("\n", "\\n")
    own = region("a", 0, end, "ADR")
    own["value"]["text"] = shown
    path = file_of(tmp_path, task(own, data={"text": text}))
    (document,) = read(path).documents
    assert [entity.text for entity in document.entities] == [text[:end]]
    own["value"]["text"] = shown.replace("leg", "arm")
    with refused("tasks.json", 1):
        read(file_of(tmp_path, task(own, data={"text": text})))


@pytest.mark.parametrize(
    "value",
    [
        {"start": 0, "end": 4, "text": "legs"},
        {"start": "/p[1]", "end": 4},
        {"start": 0, "end": 400},
    ],
)
def test_regions_that_do_not_fit_are_bad(tmp_path, value, refused):
    bad = region("a", 0, 4, "X")
    bad["value"] = {**value, "labels": ["X"]}
    with refused("tasks.json", 1):
        read(file_of(tmp_path, task(bad)))


def test_long_chains_of_relations_need_no_recursion(tmp_path):
    text = "a " * 3000
    regions = [
        {"id": str(n), "type": "labels", "value": {"start": n, "end": n + 1, "labels": ["X"]}}
        for n in range(0, 6000, 2)
    ]
    joins = [relation(str(n), str(n + 2)) for n in range(0, 5998, 2)]
    own = {"data": {"text": text}, "annotations": [{"result": [*regions, *joins]}]}
    (document,) = read(file_of(tmp_path, own)).documents
    assert [len(e.fragments) for e in document.entities] == [3000]
