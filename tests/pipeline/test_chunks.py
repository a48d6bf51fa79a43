from __future__ import annotations

import gc
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_documents import documents
from trigner.errors import InputError
from trigner.mentions import Document, Entity, Extra
from trigner.pipeline import chunks as room
from trigner.pipeline.chunks import chunks, ordered
from trigner.text.segmentation import sentences_in


@given(st.lists(documents(), max_size=3), st.integers(1, 12), st.integers(1, 4))
def test_every_sentence_is_in_one_chunk_in_order(some, words, ending):
    given_ones = [document for made in some for document in made]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "WORDS", words)
        patch.setattr(room, "DOCUMENTS", ending)
        found = list(chunks(given_ones))
    assert [s for p in found for s in p.sentences] == [
        s for document in given_ones for s in sentences_in(document)
    ]
    parts = [part for chunk in found for part in chunk.parts]
    assert [p.document.id for p in parts if p.is_last] == [d.id for d in given_ones]
    for part in parts:
        assert {s.document for s in part.sentences} <= {part.document.id}
    for chunk in found:
        assert chunk.ending == sum(part.is_last for part in chunk.parts) <= ending
        assert chunk.words == sum(len(s.words) for s in chunk.sentences)
        assert chunk.words <= words or len(chunk.sentences) == 1


def test_a_long_document_ends_in_its_last_chunk(monkeypatch):
    monkeypatch.setattr(room, "WORDS", 6)
    found = list(chunks([Document("a", "One came. Two came. Three came."), Document("b", "")]))
    assert [len(p.sentences) for p in found] == [2, 1]
    assert [[(p.document.id, p.is_last) for p in chunk.parts] for chunk in found] == [
        [("a", False)],
        [("a", True), ("b", True)],
    ]


def test_entities_in_one_place_are_in_the_order_of_their_types():
    made = [Entity(label, ((at, at + 1),), "a") for at in (2, 0) for label in "YX"]
    assert [(e.fragments[0][0], e.label) for e in ordered(made)] == [
        *((0, "X"), (0, "Y")),
        *((2, "X"), (2, "Y")),
    ]


def test_gold_is_gone():
    gold = Entity("X", ((0, 1),), "a")
    (chunk,) = chunks([Document("d", "a b", (gold,), extras=(Extra("brat", "#1"),))])
    assert [part.document for part in chunk.parts] == [Document("d", "a b")]


def test_an_error_comes_behind_the_documents_before_it(refused):
    def stream():
        yield Document("a", "One came.")
        yield Document("b", "Two came.")
        raise InputError("bad", path="x", line=3)

    found = chunks(stream())
    assert [part.document.id for part in next(found).parts] == ["a", "b"]
    with refused():
        next(found)


def test_only_the_documents_of_one_chunk_are_drawn_and_kept(monkeypatch):
    monkeypatch.setattr(room, "WORDS", 10)
    drawn: list[weakref.ref[Text]] = []

    class Text(str):
        """A text whose end can be watched."""

    def stream():
        for number in range(200):
            text = Text(f"One came {number}.")
            drawn.append(weakref.ref(text))
            yield Document(str(number), text)

    gc.freeze()  # what other tests left need not be looked through again and again
    for chunk in chunks(stream()):
        del chunk
        gc.collect()
        assert sum(ref() is not None for ref in drawn) <= 5
    gc.unfreeze()
    assert len(drawn) == 200


def test_a_long_text_is_no_more_work_than_the_same_text_in_many_documents():
    paragraph = "Two patients had swelling of the face and hands. Both recovered.\n\n"
    many = list(chunks(Document(str(n), paragraph) for n in range(1000)))
    one = list(chunks([Document("all", paragraph * 1000)]))

    def lengths(found):
        return [len(sentence.words) for chunk in found for sentence in chunk.sentences]

    assert lengths(one) == lengths(many)
    assert len(one) <= len(many)
