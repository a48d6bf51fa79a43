from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import automaton_naive
from trigner.mentions import Mention
from trigner.schemes.bio import Bio

BIO = Bio(("ADR", "Drug"))
ONE = Bio(("A",))


def found(decoding):
    return {scored.mention for scored in decoding.mentions}


def test_tags_of_continuous_mentions():
    gold = [Mention((0, 1), "ADR"), Mention((2, 3), "ADR"), Mention((4,), "Drug")]
    encoding = BIO.encode(gold, 6)
    assert [BIO.tags[tag] for tag in encoding.tags] == [
        *("B-ADR", "I-ADR", "B-ADR", "I-ADR", "B-Drug", "O")
    ]
    assert encoding.lost == ()
    assert found(BIO.decode_tags(encoding.tags)) == set(gold)


def test_discontinuous_and_shorter_overlapping_mentions_are_lost():
    gold = [
        Mention((0, 2), "ADR"),
        Mention((3, 4), "ADR"),
        Mention((4, 5, 6), "Drug"),
        Mention((7, 8), "ADR"),
        Mention((8, 9), "ADR"),
        Mention((0,), "ADR"),
    ]
    encoding = BIO.encode(gold, 10)
    assert encoding.lost == (gold[0], gold[1], gold[4])
    assert found(BIO.decode_tags(encoding.tags)) == set(gold) - set(encoding.lost)
    assert not encoding.tags[1:4].any()


@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_a_score_is_the_probability_of_the_mention(length, seed):
    scores = np.random.default_rng(seed).normal(size=(length, 3)) * 2
    for scored in ONE.decode(scores).mentions:
        expected = automaton_naive.probability(
            ONE.grammar.automaton,
            scores,
            lambda tags, own=scored.mention: own in found(ONE.decode_tags(np.array(tags))),
        )
        assert scored.score == pytest.approx(expected)


def test_a_stray_tag_begins_a_mention():
    tags = np.array([BIO.tags.index(t) for t in ("I-ADR", "I-ADR", "I-Drug", "O", "B-ADR")])
    assert {m.words for m in found(BIO.decode_tags(tags))} == {(0, 1), (2,), (4,)}


def test_bad_mentions_and_empty_sentences(refused):
    with refused(error=ValueError):
        BIO.encode([Mention((0,), "Dose")], 2)
    assert BIO.decode(np.zeros((0, 5))).mentions == ()
