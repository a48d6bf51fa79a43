"""What a format writes it reads: the same entities and no more, of documents as odd as can be."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from datetime import date

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from trigner.corpora import read, with_types, write
from trigner.corpora.formats import WRITABLE
from trigner.corpora.words import document_of
from trigner.errors import InputError
from trigner.evaluation.signature import data_hash
from trigner.mentions import Document, Entity, Extra
from written_documents import check_written, odd_documents


@pytest.mark.parametrize("format", WRITABLE)
def test_the_same_entities_and_no_more(tmp_path_factory, format):
    written = Counter()

    @settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(made=odd_documents())
    def check(made):
        with suppress(InputError):  # what cannot be written is refused, not written otherwise
            check_written(made, tmp_path_factory.mktemp("odd") / "out", format)
            written.update(examples=1, entities=sum(len(own.entities) for own in made))

    check()
    # Of most formats nearly all is written, of XMI about half.
    assert written["examples"] >= 10
    assert written["entities"] >= 3


def test_what_odd_notes_were_is_not_what_they_become(tmp_path):
    for format, content in (
        ("brat", "T9\tX 0 1\tp"),
        ("bigbio", '{"entities": [{"id": "x", "type": "X", "offsets": [[0, 1]]}]}'),
        ("grid", '{"ner": [{"index": [0], "type": "X"}]}'),
    ):
        document = Document("a", "pain", extras=(Extra(format, content),))
        write([document], tmp_path / format, format=format)
        (found,) = read(tmp_path / format, format=format).documents
        assert found.entities == ()


@pytest.mark.parametrize("content", ["junk", "[1]", "[" * 100_000])
@pytest.mark.parametrize("format", ["grid", "bigbio"])
def test_extras_that_are_not_objects_are_refused(tmp_path, format, content, refused):
    document = document_of("a", ["pain"])
    document = Document("a", "pain", words=document.words, extras=(Extra(format, content),))
    with refused("a"):
        write([document], tmp_path / "a", format=format)


@pytest.mark.parametrize("format", ["grid", "bigbio", "prodigy", "label-studio"])
def test_extras_with_a_key_twice_are_refused(tmp_path, format, refused):
    document = document_of("a", ["pain"])
    extra = Extra(format, '{"x": 1, "x": 2}')
    document = Document("a", "pain", words=document.words, extras=(extra,))
    with refused("a"):
        write([document], tmp_path / "a", format=format)


@pytest.mark.parametrize(
    ("value", "flaw"),
    [
        (float("nan"), "a number that is NaN or infinite"),
        ([{"a": float("-inf")}], "a number that is NaN or infinite"),
        (np.int64(1), "a value of numpy.int64, which JSON does not know"),
        ([1, "a", None, True, (date(2020, 1, 1),)], "a value of datetime.date, which JSON"),
        ([{"a": {1: 2}}], "a key that is no text"),
    ],
)
def test_values_that_no_reader_takes_are_not_written(tmp_path, value, flaw, refused):
    of_document = Document("a", "pain", fields={"x": value})
    entity = Entity("X", ((0, 4),), "pain", fields={"x": value})
    for document in (of_document, Document("a", "pain", (entity,))):
        for format in ("jsonl", "doccano", "brat", "csv", "parquet"):
            for documents in ([document], iter([document])):
                with refused():
                    write(documents, tmp_path / format, format=format)
    extra = Extra("doccano", '{"relations": [NaN]}')
    with refused():
        write([Document("a", "pain", extras=(extra,))], tmp_path / "b", format="doccano")


def test_ids_that_two_entities_have_are_written_once(tmp_path):
    entity = {"label": "X", "fragments": [[0, 1]], "id": "T1"}
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "pain", "entities": [entity, entity]}))
    documents = read(tmp_path / "a.jsonl").documents
    for format in ("bigbio", "brat"):
        report = write(documents, tmp_path / format, format=format)
        assert report.dropped["entity ids"] == 1
        (found,) = read(tmp_path / format).documents
        assert len({entity.id for entity in found.entities}) == 2


@pytest.mark.parametrize("format", WRITABLE)
def test_an_id_that_comes_again_is_refused_where_there_are_ids(tmp_path, format, refused):
    twice = [Document("text", "Pain."), Document("text", "Numb.")]
    for documents in (twice, iter(twice)):
        if format == "inline":
            write(documents, tmp_path / "inline", format=format)
            continue
        with refused():
            write(documents, tmp_path / "out", format=format)


@pytest.mark.parametrize("format", WRITABLE)
def test_numbers_may_be_those_of_numpy(tmp_path, format, refused):
    def made(integer, real):
        fragment = (integer(0), integer(4))
        return Document("a", "pain", (Entity("X", (fragment,), "pain", real(0.5)),), (fragment,))

    plain, numpys = made(int, float), made(np.int64, np.float32)
    assert data_hash([plain]) == data_hash([numpys])
    assert Document.from_dict(numpys.to_dict()) == plain
    for name, document in (("plain", plain), ("numpys", numpys)):
        write([document], tmp_path / name / "a", format=format)
    one, other = (read(tmp_path / name / "a", format=format) for name in ("plain", "numpys"))
    assert one.documents == other.documents
    for wrong in ("nan", "inf"):
        document = Document("a", "pain", (Entity("X", ((0, 4),), "pain", np.float32(wrong)),))
        with refused():
            write([document], tmp_path / wrong, format=format)


def test_a_string_is_no_list_of_types(refused):
    with refused():
        with_types([Document("a", "pain")], "ADR Drug")


def test_unknown_ways_to_take_texts_without_annotations(tmp_path, refused):
    with refused():
        read(tmp_path, format="brat", missing_annotations="raise")
