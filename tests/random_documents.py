"""Strategies for documents of every kind: any text, any fragments, ready words."""

from __future__ import annotations

import string

from hypothesis import strategies as st

from trigner.mentions import Document, Entity, Extra

# Anything that UTF-8 can hold, with the characters that break formats made frequent.
CHARACTERS = st.one_of(
    st.sampled_from(" \n\r\t\f|,;\u00a0\u0085\u2028\ufeff\U0001f635e\u0301"),
    st.characters(exclude_categories=["Cs"]),
)
TEXTS = st.text(CHARACTERS, min_size=1, max_size=30)
LABELS = st.text(string.ascii_letters + "_-.é", min_size=1, max_size=6)


@st.composite
def fragments(draw, length):
    """Sorted fragments of a text, which may touch."""
    size = 2 * draw(st.integers(1, min(3, length)))
    bounds = sorted(draw(st.lists(st.integers(0, length), min_size=size, max_size=size)))
    found = tuple((a, b) for a, b in zip(bounds[::2], bounds[1::2], strict=True) if a < b)
    return found or ((0, length),)


SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(CHARACTERS, max_size=5)
FIELDS = st.dictionaries(
    st.text(CHARACTERS, max_size=5).map(lambda name: f"_{name}"),  # no name with a meaning
    SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.text(max_size=3), SCALARS),
    max_size=3,
)
"""Own fields of a document or an entity: JSON values under any names."""


@st.composite
def entities(draw, text, *, scored=False, fields=False, labels=LABELS):
    found = []
    for number in range(draw(st.integers(0, 4))):
        chosen = draw(fragments(len(text)))
        surface = " ".join(text[start:end] for start, end in chosen)
        score = draw(st.none() | st.floats(0, 1)) if scored else None
        own = draw(FIELDS) if fields else {}
        found.append(Entity(draw(labels), chosen, surface, score, f"T{number + 1}", own))
    if found and draw(st.booleans()):  # the same thing twice
        again = found[0]
        found.append(Entity(again.label, again.fragments, again.text, again.score, "T77"))
    return tuple(found)


@st.composite
def documents(draw, *, scored=False, extras=False, fields=False):
    """Documents of raw text; all entities have ids."""
    made = []
    for number in range(draw(st.integers(1, 3))):
        text = draw(TEXTS)
        notes = ()
        if extras:
            contents = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=8)
            notes = tuple(Extra("brat", f"#1\tNote T1\t{c}") for c in draw(st.lists(contents)))
        found = draw(entities(text, scored=scored, fields=fields))
        own = draw(FIELDS) if fields else {}
        made.append(Document(f"d/{number}", text, found, extras=notes, fields=own))
    return made


@st.composite
def word_indices(draw, length):
    return sorted(draw(st.sets(st.integers(0, length - 1), min_size=1, max_size=length)))


@st.composite
def sentences(draw, words):
    """Items of grid JSON, each with an id; `words` is the strategy for one word."""
    items = []
    for number in range(draw(st.integers(1, 3))):
        sentence = draw(st.lists(words, min_size=1, max_size=6))
        found = [
            {"index": draw(word_indices(len(sentence))), "type": draw(LABELS)}
            for _ in range(draw(st.integers(0, 4)))
        ]
        found += found[:1]  # the same thing twice
        items.append({"id": f"s{number}", "sentence": sentence, "ner": found})
    return items
