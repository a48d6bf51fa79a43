"""JSON of other tools: read as what it is, and never as texts without entities."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_documents import LABELS, TEXTS
from trigner.corpora import read, write
from trigner.corpora.json_shapes import beginning, bounds_of, refuse_annotations
from trigner.corpora.span_entries import entity_of
from trigner.corpora.words import document_of
from trigner.mentions import Document, Entity, Extra

TEXT = "pain in my hands"
PAIN = Entity("ADR", ((0, 4),), "pain")

PRODIGY = {
    "text": TEXT,
    "meta": {"patient": "p1"},
    "_input_hash": -7,
    "tokens": [{"text": "pain", "start": 0, "end": 4, "id": 0}],
    "spans": [{"start": 0, "end": 4, "label": "ADR", "negated": True}],
    "answer": "accept",
}
DOCCANO = {"id": 3, "text": TEXT, "label": [[0, 4, "ADR"]], "patient": "p1", "Comments": []}
RELATION = {"id": 1, "from_id": 7, "to_id": 7, "type": "same"}
DOCCANO_RELATIONS = {
    "id": 3,
    "text": TEXT,
    "entities": [{"id": 7, "label": "ADR", "start_offset": 0, "end_offset": 4}],
    "relations": [RELATION],
}
GLINER = {"tokenized_text": TEXT.split(), "ner": [[0, 0, "ADR"]], "patient": "p1"}
SPANS = {
    "objects": {"text": TEXT, "entities": [{"start": 0, "end": 4, "label": "ADR"}]},
    "triples": {"text": TEXT, "entities": [[0, 4, "ADR"]]},
    "spaCy": {
        "text": TEXT,
        "ents": [{"start": 0, "end": 4, "label": "ADR"}],
        "sents": [{"start": 0, "end": 16}],
        "tokens": [{"id": 0, "start": 0, "end": 4, "tag": "NN"}],
    },
    "Hugging Face": {"text": TEXT, "ner": [{"entity_group": "ADR", "start": 0, "end": 4}]},
    "own name": {"text": TEXT, "adverse": [{"begin": 0, "end": 4, "type": "ADR"}]},
    "length": {"text": TEXT, "mentions": [{"offset": 0, "length": 4, "label": ["ADR"]}]},
}


def file_of(root, *values, name="a.jsonl", as_list=False):
    path = root / name
    path.write_text(json.dumps(values) if as_list else "\n".join(map(json.dumps, values)), "utf-8")
    return path


def test_one_object_over_several_lines_is_a_document(tmp_path):
    path = tmp_path / "doc.json"
    path.write_text(json.dumps(SPANS["spaCy"], indent=2))  # as of spaCy's `Doc.to_json`
    corpus = read(path)
    assert corpus.format == "spans"
    assert [d.entities for d in corpus.documents] == [(PAIN,)]


@pytest.mark.parametrize("as_list", [False, True])
@pytest.mark.parametrize(
    ("item", "format"),
    [
        (PRODIGY, "prodigy"),
        (DOCCANO, "doccano"),
        (DOCCANO_RELATIONS, "doccano"),
        ({"data": TEXT, "labels": [[0, 4, "ADR"]]}, "doccano"),
        (GLINER, "gliner"),
        *((item, "spans") for item in SPANS.values()),
    ],
)
def test_files_of_other_tools_are_recognised_and_read(tmp_path, item, format, as_list):
    path = file_of(tmp_path, item, name="a.json" if as_list else "a.jsonl", as_list=as_list)
    for corpus in (read(path), read(tmp_path), read(path, format=format)):
        assert corpus.format == format
        (document,) = corpus.documents
        assert document.text == TEXT
        assert [(e.label, e.fragments) for e in document.entities] == [("ADR", ((0, 4),))]
        assert corpus.notices == ()


def test_what_prodigy_has_besides_is_kept(tmp_path):
    (document,) = read(file_of(tmp_path, PRODIGY)).documents
    assert document.id == "a-1"
    assert document.entities[0].fields == {"negated": True}
    assert document.fields == {key: PRODIGY[key] for key in ("meta", "_input_hash", "answer")}
    assert document.extras == (Extra("prodigy", json.dumps({"tokens": PRODIGY["tokens"]})),)


def test_rejected_examples_are_left_out_and_told(tmp_path):
    rejected = [{**PRODIGY, "answer": answer} for answer in ("reject", "ignore")]
    corpus = read(file_of(tmp_path, PRODIGY, *rejected))
    assert [d.id for d in corpus.documents] == ["a-1"]
    assert [(n.line, n.message) for n in corpus.notices] == [
        (2, "an example left out: its answer is reject"),
        (3, "an example left out: its answer is ignore"),
    ]


def test_what_doccano_has_besides_is_kept(tmp_path):
    path = file_of(tmp_path, DOCCANO, {"id": 4, "text": "none", "label": []})
    first, second = read(path).documents
    assert (first.id, second.id) == ("3", "4")
    assert first.fields == {"patient": "p1", "Comments": []}
    (document,) = read(file_of(tmp_path, DOCCANO_RELATIONS)).documents
    assert document.entities[0].id == "7"
    assert document.extras == (Extra("doccano", json.dumps({"relations": [RELATION]})),)


def test_what_doccano_may_count_twice_is_told(tmp_path, refused):
    text = "\U0001f600 pain, rash \U0001f600"
    early = {"id": 1, "text": text[2:], "label": [[0, 4, "ADR"]]}
    late = {"id": 2, "text": text, "label": [[2, 6, "ADR"]]}
    corpus = read(file_of(tmp_path, early, late))
    (note,) = corpus.notices
    assert re.search("an emoji, which Doccano counts as two .* were read with .*: 1$", note.message)
    (told,) = write(corpus.documents, tmp_path / "b.jsonl", format="doccano").notices()
    assert re.search("were written with each character counted once: check them: 1$", told)
    late["label"] = [[12, 16, "ADR"]]
    with refused("a.jsonl", 1):
        read(file_of(tmp_path, late))
    late["label"] = [[12, 18, "ADR"]]
    with refused("a.jsonl", 1):
        read(file_of(tmp_path, late))


def test_labels_of_whole_texts_are_fields(tmp_path):
    item = {"text": TEXT, "label": ["positive"], "entities": [{**PAIN.to_dict()}]}
    (document,) = read(file_of(tmp_path, item)).documents
    assert document.fields == {"label": ["positive"]}
    (document,) = read(file_of(tmp_path, item | {"entities": []}), format="doccano").documents
    assert document.fields == {"label": ["positive"]}


def test_gliners_words_are_inclusive(tmp_path):
    ner = [[0, 0, "ADR"], [2, 3, "Body"]]
    (document,) = read(file_of(tmp_path, {**GLINER, "ner": ner, "relations": []})).documents
    assert [e.text for e in document.entities] == ["pain", "my hands"]
    assert document.words is not None
    assert document.fields == {"patient": "p1"}
    assert document.extras == (Extra("gliner", '{"relations": []}'),)


@pytest.mark.parametrize("entry", [[0, 0], [0, "ADR"], [0, True, "ADR"], [0, 0, ""], [1, 0, "X"]])
def test_bad_gliner_entries_stop_or_are_listed(tmp_path, entry, refused):
    path = file_of(tmp_path, GLINER, {**GLINER, "ner": [entry, [0, 0, "ADR"]]})
    with refused("a.jsonl", 2):
        read(path)
    corpus = read(path, skip_bad=True)
    assert [len(d.entities) for d in corpus.documents] == [1, 1]
    assert corpus.left_out == 1


@pytest.mark.parametrize("last", [4, -1, 10**12])
def test_gliner_words_outside_the_sentence_are_named(tmp_path, last, refused):
    path = file_of(tmp_path, {**GLINER, "ner": [[min(last, 0), last, "ADR"]]})
    with refused("a.jsonl", 1):
        read(path)


def test_texts_with_objects_as_spacy_had_them(tmp_path):
    value = [TEXT, {"entities": [[0, 4, "ADR"]], "cats": {}}]
    (document,) = read(file_of(tmp_path, value, name="a.json", as_list=True)).documents
    assert document.entities == (PAIN,)
    assert document.fields == {"cats": {}}


ANNOTATED = {
    "highlights": [{"start": 0, "end": 4}],
    "predictions": [[0, 4, "ADR"]],
    "ner_tags": [1, 0, 0, 0],
    "tags": ["B-ADR", "O", "O", "O"],
    "spans": [{"anfang": 0, "ende": 4}],
    "found": {"by": {"ann": [{"begin": 0, "end": 4, "type": "ADR"}]}},
    "mentions": [{"offset": 0, "length": 4}],
    "offsets": [{"span": [0, 4]}],
    "places": [{"fragments": [[0, 4]]}],
    "ends": [{"start": 12, "end": 16}],
    "points": [{"start": 0, "end": 0}],
}


@pytest.mark.parametrize(
    ("item", "format"), [(PRODIGY, "prodigy"), (SPANS["objects"], "spans"), (GLINER, "gliner")]
)
def test_annotations_beside_those_of_a_format_are_refused(tmp_path, item, format, refused):
    path = file_of(tmp_path, {**item, "found": {"by": [[0, 4, "ADR"]]}})
    with refused("a.jsonl", 1):
        read(path, format=format)


@pytest.mark.parametrize("name", ANNOTATED)
def test_fields_that_look_like_annotations_are_named(tmp_path, name, refused):
    item = {"text": TEXT, "entities": [], name: ANNOTATED[name]}
    path = file_of(tmp_path, {"text": TEXT, "entities": []}, item)
    with refused(path, 2):
        read(path, format="jsonl", skip_bad=True)


def test_one_annotation_a_line_is_named(tmp_path, refused):
    path = file_of(tmp_path, {"text": TEXT, "start": 0, "end": 4, "label": "ADR"})
    with refused("a.jsonl", 1):
        read(path)


def test_other_tools_lines_in_our_format_are_refused(tmp_path, refused):
    for item in (PRODIGY, DOCCANO, SPANS["own name"]):
        with refused("a.jsonl", 1):
            read(file_of(tmp_path, item), format="jsonl")
    for item in (DOCCANO_RELATIONS, SPANS["objects"], SPANS["triples"]):
        with refused("a.jsonl", 1):
            read(file_of(tmp_path, item), format="jsonl")


@pytest.mark.parametrize(
    "fields",
    [
        {"label": "positive", "labels": ["a", "b"], "tags": ["O", "O"], "score": 0.5},
        {"visits": [{"start": "2020-01-01", "end": "2020-02-01"}], "years": [2019, 2020, 2021]},
        {"page": {"start": 3, "end": 5}, "size": [[10, 20], [30, 40]], "codes": ["C1", 3]},
        {"times": [{"start": 0, "end": 400}], "spans": [], "annotations": ["by A"]},
    ],
)
def test_other_fields_are_fields(tmp_path, fields):
    (document,) = read(file_of(tmp_path, {"text": TEXT, **fields}), format="jsonl").documents
    assert document.fields == fields


def test_two_lists_of_annotations_are_not_guessed(tmp_path, refused):
    entries = [{"start": 0, "end": 4, "label": "ADR"}]
    path = file_of(tmp_path, {"text": TEXT, "entities": entries, "mentions": entries})
    with refused("a.jsonl", 1):
        read(path)


@pytest.mark.parametrize(
    "entry",
    [
        {"start": 0, "end": 40, "label": "X"},
        {"start": 4, "end": 0, "label": "X"},
        {"start": 0, "end": 4, "label": ""},
        {"start": 0.0, "end": 4, "label": "X"},
        {"start": True, "end": 4, "label": "X"},
        {"start": 0, "end": 4, "label": "X", "text": "hands"},
        {"start": 0, "end": 4, "label": "X", "score": 3},
        {"start": 0, "end": 4, "label": "X", "id": []},
        [0, 4, ""],
        [0, 4],
        [0, 4, "X", "Y"],
        [True, 4, "X"],
        "ADR",
    ],
)
def test_bad_entries_stop_or_are_listed(tmp_path, entry, refused):
    good = {"start": 0, "end": 4, "label": "ADR"}
    path = file_of(tmp_path, {"text": "x"}, {"text": TEXT, "entities": [good, entry]})
    with refused(path, 2):
        read(path, format="spans")
    corpus = read(path, format="spans", skip_bad=True)
    assert [len(d.entities) for d in corpus.documents] == [0, 1]
    assert corpus.left_out == 1


@pytest.mark.parametrize("format", ["prodigy", "doccano", "spans", "gliner"])
@pytest.mark.parametrize("value", [3, {"title": "x"}, {"text": 3}, {"text": "x", "id": ""}, []])
def test_wrong_shapes_name_file_and_line(tmp_path, format, value, refused):
    good = GLINER if format == "gliner" else {"text": "x"}
    path = file_of(tmp_path, good, value)
    with refused("a.jsonl", 2):
        read(path, format=format)


def test_a_first_object_of_any_length_is_seen(tmp_path):
    long = {**PRODIGY, "text": TEXT + " x" * 100_000}
    assert read(file_of(tmp_path, long)).format == "prodigy"
    assert beginning(file_of(tmp_path, PRODIGY, PRODIGY)) == [PRODIGY, PRODIGY]
    (tmp_path / "a.jsonl").write_text("[" * 100_000)
    assert beginning(tmp_path / "a.jsonl") == []


def test_a_converted_file_is_our_own(tmp_path):
    """Fields of other tools stay, and do not make it theirs."""
    for item in (PRODIGY, DOCCANO, GLINER, *SPANS.values()):
        first = read(file_of(tmp_path, item))
        write(first.documents, tmp_path / "b.jsonl", format="jsonl")
        again = read(tmp_path / "b.jsonl")
        assert again.format == "jsonl"
        assert again.documents == first.documents


@given(TEXTS, LABELS, st.data())
def test_entries_are_the_entities_that_they_say(text, label, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    expected = Entity(label, ((start, end),), text[start:end], fields={"sure": 1})
    for names in (("start", "end"), ("start_offset", "end_offset"), ("begin", "end")):
        entry = {names[0]: start, names[1]: end, "label": label, "sure": 1}
        assert entity_of(entry, text) == expected
    assert entity_of([start, end, label], text).fragments == ((start, end),)


def test_what_differs_from_start_and_end_is_a_field():
    entry = {"start": 0, "end": 4, "label": "ADR", "score": 1}
    assert entity_of(entry, TEXT) == Entity("ADR", ((0, 4),), "pain", 1.0)
    assert entity_of(entry | {"offset": 0, "length": 4}, TEXT).fields == {}
    for other in ({"offset": 0, "length": 5}, {"offset": 1, "length": 4}):
        assert entity_of(entry | other, TEXT).fields == other


def test_bounds_by_any_name():
    assert bounds_of({"start": 1, "end": 2}) == (1, 2)
    assert bounds_of({"offset": 1, "length": 2}) == (1, 3)
    assert bounds_of(["ADR", 1, 2]) == bounds_of([1, 2, "ADR"]) == (1, 2)
    for other in ({"start": 1}, {"start": 1.0, "end": 2}, [1, 2], [1, 2, 3], "x", None):
        assert bounds_of(other) is None


def test_fields_of_any_depth_are_looked_at(refused):
    deep: object = [{"start": 0, "end": 1}]
    for _ in range(3):
        deep = {"in": deep}
    with refused(error=ValueError):
        refuse_annotations({"a": deep}, "text")
    refuse_annotations({"a": "x", "b": [[[]]]}, "text")


@pytest.mark.parametrize("item", [PRODIGY, DOCCANO, DOCCANO_RELATIONS, GLINER])
def test_what_a_tool_exported_is_written_back(tmp_path, item):
    corpus = read(file_of(tmp_path, item))
    report = write(corpus.documents, tmp_path / "b.jsonl", format=corpus.format)
    again = read(tmp_path / "b.jsonl", format=corpus.format)
    assert again.documents == corpus.documents
    assert not any(n for kind, n in report.dropped.items() if kind != "given word boundaries")


@pytest.mark.parametrize("format", ["prodigy", "doccano", "gliner"])
def test_discontinuous_entities_are_counted_and_not_written(tmp_path, format):
    torn = Entity("ADR", ((0, 4), (11, 16)), "pain hands")
    touching = Entity("ADR", ((0, 4), (5, 7)), "pain in")
    document = Document("a", TEXT, (torn, PAIN, touching))
    report = write([document], tmp_path / "a.json", format=format)
    assert report.dropped["discontinuous entities"] == 1
    (found,) = read(tmp_path / "a.json", format=format).documents
    assert [e.text for e in found.entities] == ["pain", "pain in"]


def test_an_entity_of_blanks_is_where_its_characters_are(tmp_path):
    blank = Entity("X", ((4, 5),), " ")
    document = Document("a", TEXT, (blank,), words=((0, 4), (4, 5), (5, 16)))
    report = write([document], tmp_path / "a.jsonl", format="prodigy")
    assert {kind: n for kind, n in report.dropped.items() if n} == {"given word boundaries": 1}
    (found,) = read(tmp_path / "a.jsonl", format="prodigy").documents
    assert found.entities == (blank,)


def test_fields_that_gliner_means_something_by_are_counted(tmp_path):
    document = replace(document_of("a", ["x"]), fields={"ner": "y", "relations": "z", "n": 1})
    report = write([document], tmp_path / "a.json", format="gliner")
    assert report.dropped["fields of documents"] == 2
    assert read(tmp_path / "a.json").documents[0].fields == {"n": 1}


def test_scores_ids_and_fields_in_prodigys_spans(tmp_path):
    entity = Entity("ADR", ((0, 4),), "pain", 0.5, "T1", {"negated": True, "start": "x"})
    document = Document("a", TEXT, (entity,), fields={"spans": "y", "answer": "reject", "n": 1})
    report = write([document], tmp_path / "a.jsonl", format="prodigy")
    assert (report.dropped["fields of documents"], report.dropped["fields of entities"]) == (2, 1)
    (found,) = read(tmp_path / "a.jsonl").documents
    assert found.entities == (Entity("ADR", ((0, 4),), "pain", 0.5, "T1", {"negated": True}),)
    assert (found.id, found.fields) == ("a", {"n": 1})


def test_doccanos_triples_lose_what_is_counted(tmp_path):
    entity = Entity("ADR", ((0, 4),), "pain", 0.5, "T1", {"negated": True})
    document = Document("a", TEXT, (entity,), fields={"label": "x", "n": 1})
    report = write([document], tmp_path / "a.jsonl", format="doccano")
    lost = ("scores", "entity ids", "fields of entities", "fields of documents")
    assert [report.dropped[kind] for kind in lost] == [1, 1, 1, 1]
    assert json.loads((tmp_path / "a.jsonl").read_text()) == {
        "id": "a",
        "text": TEXT,
        "label": [[0, 4, "ADR"]],
        "n": 1,
    }
