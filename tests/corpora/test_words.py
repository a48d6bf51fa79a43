"""Ready words as documents, documents as ready words."""

from __future__ import annotations

import pytest

from trigner.corpora.words import checked, document_of, dropped_with_words, sentences_of
from trigner.mentions import Document, Entity, Extra, Mention
from trigner.text.segmentation import segment


def test_consecutive_words_are_one_fragment():
    document = document_of("s", ["my", "left", "knee", "hurts"], [Mention((0, 2, 3), "ADR")])
    assert document.text == "my left knee hurts"
    assert document.words == ((0, 2), (3, 7), (8, 12), (13, 18))
    assert document.entities == (Entity("ADR", ((0, 2), (8, 18)), "my knee hurts"),)


def test_words_without_characters_have_no_fragment():
    document = document_of("s", ["a", "b", ""], [Mention((0, 2), "X")])
    assert document.words == ((0, 1), (2, 3), (4, 4))
    assert document.entities[0].fragments == ((0, 1),)


def test_words_alone_are_a_document():
    assert document_of("s", ["my", "", "leg"]).words == ((0, 2), (3, 3), (4, 7))
    assert document_of("s", []) == Document("s", "", words=())
    assert document_of("s", "my leg") == Document("s", "my leg")


def test_indices_are_sorted_and_told():
    notes = []
    assert checked([2, 0, 2], "X", ["a", "b", "c"], notes.append) == Mention((0, 2), "X")
    assert notes == ["word indices [2, 0, 2] sorted, duplicates removed"]


def test_an_empty_word_may_be_part_of_an_entity():
    assert checked([0, 1], "X", ["a", ""], print) == Mention((0, 1), "X")


@pytest.mark.parametrize(
    "indices",
    [
        [0, 3],
        [-1],
        [2],
    ],
)
def test_bad_indices(indices, refused):
    with refused(error=ValueError):
        checked(indices, "X", ["a", "b", ""], print)


def entity(text, *fragments, label="X", id=None):
    return Entity(label, fragments, " ".join(text[a:b] for a, b in fragments), id=id)


def test_raw_text_becomes_numbered_sentences_with_all_equal_entities():
    text = "My knees hurt. My hands hurt."
    twice = (entity(text, (3, 13), id="T1"), entity(text, (3, 13), id="T2"))
    found, lost = sentences_of(Document("d", text, (*twice, entity(text, (18, 23)))))
    assert [s.id for s in found] == ["d:1", "d:2"]
    assert found[0].mentions == (Mention((1, 2), "X"), Mention((1, 2), "X"))
    assert found[1].mentions == (Mention((1,), "X"),)
    assert lost == 0


def test_what_does_not_fit_is_counted():
    text = "My knees hurt. My hands hurt."
    half, crossing = entity(text, (3, 6)), entity(text, (3, 8), (18, 23))
    found, lost = sentences_of(Document("d", text, (half, crossing)))
    assert lost == 2
    assert all(not s.mentions for s in found)


def test_given_words_keep_id_extras_and_repetitions():
    extra = Extra("grid", "{}")
    mentions = [Mention((0,), "X"), Mention((1,), "X"), Mention((0,), "X")]
    document = document_of("s", ["a", "b"], mentions)
    document = Document("s", document.text, document.entities, document.words, (extra,))
    (sentence,), lost = sentences_of(document)
    assert (sentence.id, sentence.words, sentence.extras) == ("s", ("a", "b"), (extra,))
    assert (list(sentence.mentions), lost) == (mentions, 0)


def test_a_document_is_segmented_once_however_often_it_repeats(monkeypatch):
    found = []
    monkeypatch.setattr("trigner.text.segment", lambda own: found.append(segment(own)) or found[-1])
    mentions = [Mention((0, 2), "X"), Mention((1,), "Y"), Mention((0, 2), "X")]
    ((sentence,), _) = sentences_of(document_of("d", ["a", "b", "c"], mentions))
    assert sentence.mentions == tuple(mentions)
    assert len(found) == 1


def test_a_sentence_without_words_is_kept():
    (sentence,), _ = sentences_of(document_of("s", [], []))
    assert sentence.words == ()


def test_losses_are_counted_by_kind():
    scored = Entity("X", ((0, 1),), "a", 0.5, "T1")
    document = Document("d", "a", (scored,), extras=(Extra("brat", "#"), Extra("grid", "{}")))
    assert dropped_with_words(document, 3, keeps="grid") == {
        "entities that do not fit on words of one sentence": 3,
        "line breaks and spaces of raw text": 1,
        "scores": 1,
        "entity ids": 1,
        "relations or notes": 1,
    }
