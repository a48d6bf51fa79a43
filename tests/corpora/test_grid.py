"""Grid JSON: words as given, indices checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_documents import CHARACTERS, sentences
from trigner.corpora.grid import read, recognises, write
from trigner.corpora.reading import Reading
from trigner.mentions import Document, Entity, Extra

PUBLISHED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "streusle"


def file_of(root, value, name="a.json"):
    path = root / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def test_words_are_kept_as_given(tmp_path):
    words = ["knee", "1 1/2", " ", "", "weak"]
    item = {"sentence": words, "ner": [{"index": [0, 4], "type": "ADR"}], "word": [1]}
    (document,) = read(file_of(tmp_path, [item]), Reading())
    assert document.id == "a-1"
    assert tuple(document.text[a:b] for a, b in document.words) == tuple(words)
    assert document.entities == (Entity("ADR", ((0, 4), (14, 18)), "knee weak"),)
    assert document.extras == ()


def test_a_sentence_without_words_is_an_empty_document(tmp_path):
    found = list(
        read(file_of(tmp_path, [{"sentence": [], "ner": []}, {"sentence": ["a"]}]), Reading())
    )
    assert [(d.id, d.text, d.words) for d in found] == [("a-1", "", ()), ("a-2", "a", ((0, 1),))]


def test_indices_are_sorted_with_a_note(tmp_path):
    item = {"sentence": ["a", "b", "c"], "ner": [{"index": [2, 0, 2], "type": "X", "text": "c"}]}
    reading = Reading()
    (document,) = read(file_of(tmp_path, [item]), reading)
    assert document.entities[0].fragments == ((0, 1), (4, 5))
    assert [(n.line, n.message) for n in reading.notices] == [
        (1, "ignored: text"),
        (1, "word indices [2, 0, 2] sorted, duplicates removed"),
    ]


@pytest.mark.parametrize(
    "entry",
    [
        {"index": [2], "type": "X"},
        {"index": [-1], "type": "X"},
        {"index": [], "type": "X"},
        {"index": [0.0], "type": "X"},
        {"index": [True], "type": "X"},
        {"index": ["0"], "type": "X"},
        {"index": 0, "type": "X"},
        {"index": [0]},
        {"index": [0], "type": ""},
        "X",
    ],
)
def test_a_bad_annotation_stops_or_is_listed(tmp_path, entry, refused):
    good = {"index": [0], "type": "X"}
    value = [{"sentence": ["a"]}, {"sentence": ["a", "b"], "ner": [good, entry, good]}]
    path = file_of(tmp_path, json.dumps(value).replace("}, {", "},\n{", 1))
    with refused("a.json", 2):
        list(read(path, Reading()))
    reading = Reading(skip_bad=True)
    assert [len(d.entities) for d in read(path, reading)] == [0, 2]
    assert [n.line for n in reading.notices] == [2]


@pytest.mark.parametrize(
    "value",
    [
        "",
        '[{"sentence": ["a"],\n,}]',
        {"sentence": "a b"},
        [["a"]],
        [{"sentence": ["a", 3]}],
        [{"sentence": ["a"], "ner": {}}],
        [{"sentence": ["a"], "id": []}],
        [{"sentence": ["a"], "id": "x"}, {"sentence": ["a"], "id": "x"}],
    ],
)
def test_wrong_shapes_name_the_file(tmp_path, value, refused):
    path = file_of(tmp_path, value)
    with refused(path):
        list(read(path, Reading()))


def test_ids_in_a_folder_are_prefixed_only_when_needed(tmp_path):
    file_of(tmp_path, [{"id": "1", "sentence": ["a"]}], "train.json")
    file_of(tmp_path, [{"id": "2", "sentence": ["a"]}], "dev.json")
    assert [d.id for d in read(tmp_path, Reading())] == ["2", "1"]
    file_of(tmp_path, [{"id": "1", "sentence": ["a"]}], "dev.json")
    assert [d.id for d in read(tmp_path, Reading())] == ["dev/1", "train/1"]


def test_recognised_by_its_keys(tmp_path):
    assert recognises(file_of(tmp_path, [{"sentence": ["passages", "text"]}]))
    assert recognises(tmp_path)
    assert not recognises(file_of(tmp_path, [{"passages": [], "sentence": []}]))
    assert not recognises(file_of(tmp_path, {"sentence": []}))
    assert not recognises(file_of(tmp_path, "[]"))


@given(sentences(st.text(CHARACTERS, min_size=1, max_size=5)))
def test_nothing_is_lost_in_a_round_trip(tmp_path_factory, items):
    folder = tmp_path_factory.mktemp("grid")
    path = file_of(folder, items)
    found = list(read(path, Reading()))
    report = write(found, folder / "b.json")
    assert not any(report.dropped.values())
    assert json.loads((folder / "b.json").read_text("utf-8")) == items


def test_other_keys_are_fields_and_written_back(tmp_path):
    ner = [{"index": [0], "type": "X", "negated": True}]
    item = {"pos": ["NN"], "spans": [[0, 1]], "id": "x", "sentence": ["a"], "ner": ner}
    (document,) = read(file_of(tmp_path, [item]), Reading())
    assert document.fields == {"pos": ["NN"]}
    assert document.entities[0].fields == {"negated": True}
    assert document.extras == (Extra("grid", '{"spans": [[0, 1]]}'),)
    write(list(read(file_of(tmp_path, [item]), Reading())), tmp_path / "b.json")
    assert json.loads((tmp_path / "b.json").read_text()) == [item]


def test_raw_text_is_split_and_losses_are_counted(tmp_path):
    text = "My knees hurt. My hands hurt."
    entities = (Entity("X", ((3, 8),), "knees", 0.5, "T1"), Entity("X", ((3, 6),), "kne"))
    report = write([Document("d", text, entities)], tmp_path / "a.json")
    items = json.loads((tmp_path / "a.json").read_text())
    assert [item["id"] for item in items] == ["d:1", "d:2"]
    assert items[0]["ner"] == [{"index": [1], "type": "X"}]
    assert {kind: n for kind, n in report.dropped.items() if n} == {
        "entities that do not fit on words of one sentence": 1,
        "line breaks and spaces of raw text": 1,
        "scores": 1,
        "entity ids": 1,
    }


def test_no_documents_are_an_empty_list(tmp_path):
    write([], tmp_path / "a.json")
    assert list(read(tmp_path / "a.json", Reading())) == []


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("part", "sizes"),
    [("train", (2725, 2448, 316)), ("dev", (554, 287, 26)), ("test", (535, 284, 29))],
)
def test_streusle_comes_back_equal(tmp_path, part, sizes):
    path = PUBLISHED / f"{part}.json"
    if not path.is_file():
        pytest.skip("the open corpora are not next to the checkout")
    reading = Reading()
    found = list(read(path, reading))
    entities = [(d, e) for d in found for e in d.entities]
    assert (len(found), len(entities), sum(d.is_discontinuous(e) for d, e in entities)) == sizes
    assert reading.notices == []
    write(found, tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text("utf-8")) == json.loads(
        path.read_text("utf-8")
    )
