"""BigBio's schema: all that a document has is written back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from random_documents import documents
from trigner.corpora.bigbio import read, recognises, write
from trigner.corpora.reading import Reading
from trigner.mentions import Document, Entity, Extra

ENTITY = {
    "id": "d_T1",
    "type": "ADR",
    "text": ["hands", "pain"],
    "offsets": [[8, 13], [0, 4]],
    "normalized": [{"db_name": "D", "db_id": "1"}],
}


def item_of(**change):
    return {
        "id": "0",
        "document_id": "d",
        "passages": [
            {"id": "d_t", "type": "title", "text": ["pain"], "offsets": [[0, 4]]},
            {"id": "d_a", "type": "abstract", "text": ["in hands"], "offsets": [[5, 13]]},
        ],
        "entities": [ENTITY],
        "events": [],
        "coreferences": [],
        "relations": [{"id": "r", "type": "q", "arg1_id": "d_T1", "arg2_id": "d_T1"}],
        **change,
    }


def file_of(root, value, name="a.json"):
    path = root / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def test_offsets_count_in_the_document(tmp_path):
    (document,) = read(file_of(tmp_path, [item_of()]), Reading())
    assert (document.id, document.text) == ("d", "pain in hands")
    assert document.entities == (Entity("ADR", ((0, 4), (8, 13)), "pain hands", id="d_T1"),)


def test_all_else_is_written_back(tmp_path):
    write(list(read(file_of(tmp_path, [item_of()]), Reading())), tmp_path / "b.json")
    ordered = {**ENTITY, "text": ["pain", "hands"], "offsets": [[0, 4], [8, 13]]}
    assert json.loads((tmp_path / "b.json").read_text()) == [item_of(entities=[ordered])]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_json_lines_are_read_too(tmp_path, name):
    lines = json.dumps(item_of()) + "\n" + json.dumps(item_of(document_id="e")) + "\n"
    path = file_of(tmp_path, lines, name)
    assert recognises(path)
    assert [d.id for d in read(path, Reading())] == ["d", "e"]


@given(documents(fields=True))
def test_nothing_is_lost_in_a_round_trip(tmp_path_factory, made):
    path = tmp_path_factory.getbasetemp() / "a.json"
    assert not any(write(made, path).dropped.values())
    assert list(read(path, Reading())) == made


def test_new_ids_are_new_in_their_document(tmp_path):
    entities = (Entity("X", ((0, 1),), "a"), Entity("X", ((0, 1),), "a", id="d__T1"))
    write([Document("d", "a", entities)], tmp_path / "a.json")
    (document,) = read(tmp_path / "a.json", Reading())
    assert [e.id for e in document.entities] == ["d__T2", "d__T1"]


def test_losses_are_counted(tmp_path):
    entity = Entity("X", ((0, 1),), "a", 0.5)
    document = Document("d", "a", (entity,), ((0, 1),), (Extra("brat", "#1\tNote T1\tx"),))
    assert write([document], tmp_path / "a.json").dropped == {
        "scores": 1,
        "extras of other formats": 1,
        "given word boundaries": 1,
    }


@pytest.mark.parametrize("content", ["no JSON", "[]", '{"rest of entities": 3}'])
def test_extras_that_are_not_objects_are_refused(tmp_path, content, refused):
    with refused("a.json"):
        write([Document("d", "a", extras=(Extra("bigbio", content),))], tmp_path / "a.json")


@pytest.mark.parametrize(
    "change",
    [
        {"offsets": [[0, 40]], "text": ["pain"]},
        {"offsets": [[4, 0]]},
        {"offsets": [[0, 4], [3, 6]]},
        {"offsets": [[0, 3.7]]},
        {"offsets": [["0", "4"]]},
        {"offsets": None},
        {"offsets": []},
        {"text": ["pain"]},
        {"text": [3]},
        {"type": None},
        {"id": 3},
        {"id": "d_T1"},
    ],
)
def test_a_bad_annotation_stops_or_is_listed(tmp_path, change, refused):
    bad = {**ENTITY, "id": "d_T2", **change}
    path = file_of(tmp_path, [item_of(entities=[ENTITY, bad])])
    with refused(path, 1):
        list(read(path, Reading()))
    reading = Reading(skip_bad=True)
    (document,) = read(path, reading)
    assert [e.id for e in document.entities] == ["d_T1"]
    assert len(reading.notices) == 1


def passage(text, *offsets):
    return {"id": "p", "type": "x", "text": text, "offsets": [list(pair) for pair in offsets]}


@pytest.mark.parametrize(
    "item",
    [
        3,
        {"id": "d"},
        item_of(document_id=3),
        item_of(entities={}),
        item_of(passages=[passage(["pain"], (0, 5))]),
        item_of(passages=[passage(["a"], (0, 1)), passage(["b"], (0, 1))]),
        item_of(passages=[passage(["a"])]),
        item_of(passages=[passage(["a"], (-1, 0))]),
        item_of(passages=[passage(["a"], (10**15, 10**15 + 1))]),
        item_of(passages=["a"]),
    ],
)
def test_wrong_shapes_name_file_and_line(tmp_path, item, refused):
    path = file_of(tmp_path, "[\n" + json.dumps(item) + "]")
    with refused(path, 2):
        list(read(path, Reading()))


def test_recognised_by_its_keys(tmp_path):
    assert recognises(file_of(tmp_path, [item_of()]))
    assert recognises(tmp_path)
    assert not recognises(file_of(tmp_path, [{"sentence": ["passages"]}]))


@pytest.mark.parametrize("passages", [[], 3, [passage(["b"], (0, 1))], [passage(["a"], (0, 2))]])
def test_passages_of_another_text_are_refused(tmp_path, passages, refused):
    document = Document("d", "a", extras=(Extra("bigbio", json.dumps({"passages": passages})),))
    with refused("a.json"):
        write([document], tmp_path / "a.json")
