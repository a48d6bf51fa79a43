from __future__ import annotations

import gc
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_documents import documents
from trigner.errors import InputError
from trigner.inference import chunks as room
from trigner.inference.chunks import chunks
from trigner.mentions import Document, Entity, Extra
from trigner.text import sentences_in


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
    assert [u.document.id for p in found for u in p.ending] == [d.id for d in given_ones]
    for chunk in found:
        assert len(chunk.ending) <= ending
        assert chunk.words == sum(len(s.words) for s in chunk.sentences)
        assert chunk.words <= words or len(chunk.sentences) == 1
        assert len(chunk.owners) == len(chunk.sentences)


def test_a_long_document_ends_in_its_last_chunk(monkeypatch):
    monkeypatch.setattr(room, "WORDS", 6)
    found = list(chunks([Document("a", "One came. Two came. Three came."), Document("b", "")]))
    assert [len(p.sentences) for p in found] == [2, 1]
    assert [[u.document.id for u in p.ending] for p in found] == [[], ["a", "b"]]


def test_what_was_found_comes_by_place_and_gold_is_gone():
    gold = Entity("X", ((0, 1),), "a")
    (chunk,) = chunks([Document("d", "a b", (gold,), extras=(Extra("brat", "#1"),))])
    (unfinished,) = chunk.ending
    assert unfinished.document == Document("d", "a b")
    later, first = Entity("X", ((2, 3),), "b", 0.9), Entity("Y", ((0, 1),), "a", 0.1)
    unfinished.entities += [later, first]
    assert unfinished.finished().entities == (first, later)


def test_an_error_comes_behind_the_documents_before_it():
    def stream():
        yield Document("a", "One came.")
        yield Document("b", "Two came.")
        raise InputError("bad", path="x", line=3)

    found = chunks(stream())
    assert [u.document.id for u in next(found).ending] == ["a", "b"]
    with pytest.raises(InputError, match="x:3: bad"):
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
