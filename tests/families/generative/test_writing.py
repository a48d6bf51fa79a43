"""Spellings and texts: what is written and how it is read."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trigner.families.generative.spelling import Spelling
from trigner.families.generative.writing import Writing
from trigner.families.seq2seq.automaton import END, FIRST_TYPE
from trigner.families.seq2seq.format import Format

LABELS = ("ADR", "Drug")


def writing_of(words, types=((90, 91), (90, 92))):
    """Texts over words with these spellings."""
    format = Format(LABELS[: len(types)])
    automaton = format.automaton(format.point([1] * len(words)))
    return Writing(automaton, Spelling((), ((), (1,), *types, *words)))


def texts(writing, length):
    """Every text of at most so many subwords, with its reading."""
    found = {}
    open_ = [()]
    while open_:
        text = open_.pop()
        for id in writing.allowed(text) if len(text) < length else ():
            if id == writing.spelling.end:
                found[(*text, id)] = writing.read((*text, id))
            open_.append((*text, id))
    return found


def test_texts_are_the_sets_of_mentions():
    """Of three words and one type there are seven mentions; a text has at most two here."""
    found = texts(writing_of([(10,), (11,), (12,)], types=((90,),)), 9)
    mentions = [c for n in (1, 2, 3) for c in combinations(range(3), n)]
    sets = {frozenset(c) for n in (0, 1, 2) for c in combinations(mentions, n)}
    read = [_mentions(tokens, 1) for tokens in found.values()]
    assert len(read) == len(set(read))
    assert {own for own in read if len(own) <= 2} == sets
    assert len(sets) == 1 + 7 + 21


def _mentions(tokens, types):
    found, words = set(), []
    for token in tokens:
        if token >= FIRST_TYPE + types:
            words.append(token - FIRST_TYPE - types)
        elif token >= FIRST_TYPE:
            found.add(tuple(words) if types == 1 else (tuple(words), token - FIRST_TYPE))
            words = []
    return frozenset(found)


def test_of_two_spellings_the_longer_is_read():
    writing = writing_of([(10,), (10, 20), (20, 30)])
    assert writing.read((10, 20)) == (FIRST_TYPE + 3,)
    with pytest.raises(KeyError):
        writing.read((10, 20, 30))  # begins the word behind the first, not the first and the third
    assert writing.read((10, 90, 91)) == (FIRST_TYPE + 2, FIRST_TYPE)


def test_what_is_begun_is_not_read():
    writing = writing_of([(10, 11), (12,)])
    assert writing.read(()) == ()
    assert writing.read((10,)) == ()
    assert writing.read((10, 11, 90)) == (FIRST_TYPE + 2,)


def test_a_mention_of_more_subwords_than_python_nests_calls():
    words = [(1000 + i,) for i in range(1200)]
    text = tuple(subword for word in words for subword in word)
    assert len(writing_of(words).read((*text, 90, 91))) == len(words) + 1


spellings = st.lists(
    st.lists(st.integers(10, 13), min_size=1, max_size=3).map(tuple),
    min_size=1,
    max_size=5,
    unique=True,
)


@settings(max_examples=60)
@given(spellings, st.integers(0, 2**32 - 1))
def test_any_walk_can_be_ended(words, seed):
    """And its reading spells it, whatever begins like what."""
    writing = writing_of(words)
    random = np.random.default_rng(seed)
    text = ()
    for _ in range(25):
        ways = sorted(writing.allowed(text))
        assert ways
        text = (*text, int(random.choice(ways)))
        if text[-1] == 1:
            break
    tokens = writing.read(text)
    spelled = tuple(id for token in tokens for id in writing.spelling.tokens[token])
    assert text[: len(spelled)] == spelled
    if text[-1] == 1:
        assert tokens[-1] == END
        assert writing.allowed(text) == {}
        assert spelled == text
    assert writing.automaton.accepts(tokens)
