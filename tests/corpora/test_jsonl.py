"""Our own JSON lines: everything a document has."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_documents import documents
from trigner.corpora.jsonl import LineWriter, as_json_line, read, recognises, write
from trigner.corpora.reading import Reading
from trigner.mentions import Document, Entity, Extra


def file_of(root, *values, name="a.jsonl"):
    path = root / name
    lines = [value if isinstance(value, str) else json.dumps(value) for value in values]
    path.write_text("\n".join(lines), "utf-8")
    return path


@given(documents(scored=True, extras=True, fields=True))
def test_nothing_is_lost_in_a_round_trip(tmp_path_factory, made):
    path = tmp_path_factory.getbasetemp() / "a.jsonl"
    assert write(made, path).dropped == {}
    assert list(read(path, Reading())) == made


def test_given_words_are_kept_empty_ones_too(tmp_path):
    document = Document("d", "a  b", words=((0, 1), (2, 2), (3, 4)), extras=(Extra("x", "y"),))
    write([document], tmp_path / "a.jsonl")
    assert list(read(tmp_path / "a.jsonl", Reading())) == [document]


def test_the_line_is_as_documented():
    entity = Entity("ADR", ((0, 4), (12, 17)), "Pain hands", 0.5, "T1")
    line = as_json_line(Document("d", "Pain in my hands", (entity,)))
    assert json.loads(line) == {
        "id": "d",
        "text": "Pain in my hands",
        "entities": [
            {
                "label": "ADR",
                "fragments": [[0, 4], [12, 17]],
                "text": "Pain hands",
                "score": 0.5,
                "id": "T1",
            }
        ],
    }


def test_a_text_alone_is_a_document(tmp_path):
    found = list(read(file_of(tmp_path, {"text": "x"}, {"id": 7, "text": "y"}), Reading()))
    assert [(d.id, d.text, d.entities) for d in found] == [("a-1", "x", ()), ("7", "y", ())]


def test_items_are_numbered_and_lines_are_those_of_the_file(tmp_path, refused):
    path = file_of(tmp_path, {"text": "x"}, "", {"text": "y"}, {"text": "z", "entities": [3]})
    reading = Reading(skip_bad=True)
    assert [d.id for d in read(path, reading)] == ["a-1", "a-2", "a-3"]
    assert [(n.line, n.message[:17]) for n in reading.notices] == [(4, "left out: item 3:")]
    wrong = file_of(tmp_path, {"text": "x"}, "", {"text": 3})
    with refused(wrong, 3):
        list(read(wrong, Reading()))


def test_an_empty_file_is_recognised_and_told(tmp_path, refused):
    path = file_of(tmp_path, " ")
    assert recognises(path)
    with refused("a.jsonl"):
        list(read(path, Reading()))


GOOD = {"label": "X", "fragments": [[8, 13], [0, 4]], "text": "hands pain"}


@pytest.mark.parametrize(
    "change",
    [
        {"fragments": [[0, 40]]},
        {"fragments": [[-1, 4]]},
        {"fragments": [[4, 4]]},
        {"fragments": [[0, 4], [3, 6]]},
        {"fragments": [[0, 4.0]]},
        {"fragments": [[0, True]]},
        {"fragments": [[0]]},
        {"fragments": []},
        {"fragments": None},
        {"label": None},
        {"label": ""},
        {"text": "pains"},
        {"text": 3},
        {"score": 1.5},
        {"score": "high"},
        {"score": True},
        {"id": 7},
    ],
)
def test_a_bad_annotation_stops_or_is_listed(tmp_path, change, refused):
    item = {"id": "d", "text": "pain in hands", "entities": [GOOD, {**GOOD, **change}, GOOD]}
    path = file_of(tmp_path, {"id": "c", "text": ""}, item)
    with refused(path, 2):
        list(read(path, Reading()))
    reading = Reading(skip_bad=True)
    assert [len(d.entities) for d in read(path, reading)] == [0, 2]
    assert [n.line for n in reading.notices] == [2]


@pytest.mark.parametrize(
    "value",
    [
        '{"id": "d"',
        [],
        {"id": "d"},
        {"text": "a", "id": ""},
        {"text": "a", "id": None},
        {"text": "a", "entities": None},
        {"text": "a", "words": [[0, 2]]},
        {"text": "ab", "words": [[1, 2], [0, 1]]},
        {"text": "ab", "words": [3]},
        {"text": "a", "extras": [{}]},
        {"id": "c", "text": ""},
    ],
)
def test_wrong_shapes_name_file_and_line(tmp_path, value, refused):
    path = file_of(tmp_path, {"id": "c", "text": ""}, json.dumps(value) if value == [] else value)
    with refused(path, 2):
        list(read(path, Reading()))


def test_own_fields_are_kept(tmp_path):
    entity = {**GOOD, "negated": True, "code": None}
    item = {"id": "d", "text": "pain in hands", "entities": [entity], "patient": {"age": 7}}
    (document,) = read(file_of(tmp_path, item), Reading())
    assert document.fields == {"patient": {"age": 7}}
    assert document.entities[0].fields == {"negated": True, "code": None}
    again = json.loads(as_json_line(document))
    assert again["patient"] == {"age": 7}
    assert (again["entities"][0]["negated"], again["entities"][0]["code"]) == (True, None)


def test_an_empty_file_is_told(tmp_path, refused):
    with refused("a.jsonl"):
        list(read(file_of(tmp_path), Reading()))


def test_recognised_by_its_keys(tmp_path):
    assert recognises(file_of(tmp_path, {"id": "d", "text": "passages"}))
    assert recognises(tmp_path)
    assert not recognises(file_of(tmp_path, {"id": "d"}))
    assert not recognises(file_of(tmp_path, {"text": "x", "passages": []}))
    assert not recognises(file_of(tmp_path, {"text": "x"}, name="a.json"))


@given(st.lists(documents(), max_size=3), st.integers(1, 3))
def test_lines_that_come_little_by_little_are_the_same(some, size):
    written: list[str] = []
    writer = LineWriter(written.append)
    given_ones = [document for made in some for document in made]
    for document in given_ones:
        found = document.entities
        for start in range(0, len(found) + 1, size):
            writer.add(
                replace(document, entities=()),
                found[start : start + size],
                is_last=start + size > len(found),
            )
    assert "".join(written) == "".join(as_json_line(d) + "\n" for d in given_ones)
