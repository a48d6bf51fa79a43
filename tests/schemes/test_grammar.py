from __future__ import annotations

import numpy as np
import pytest

from oracles import automaton_naive
from trigner.mentions import Mention
from trigner.schemes import Corro
from trigner.schemes.grammar import certain, chances, check, decode

CORRO = Corro(("A",))
MENTIONS = [Mention((n,), "A") for n in range(3)]


def test_check():
    check(MENTIONS, ("A",), 3)
    with pytest.raises(ValueError, match="word 2 is outside a sentence of 2 words"):
        check(MENTIONS, ("A",), 2)
    with pytest.raises(ValueError, match="unknown label 'A'"):
        check(MENTIONS, ("B",), 3)


def test_certain_mentions_are_bounded():
    assert certain(MENTIONS, limit=3).complete
    bounded = certain(MENTIONS, limit=2)
    assert (len(bounded.mentions), bounded.complete) == (2, False)
    assert {scored.score for scored in bounded.mentions} == {1.0}


def test_a_chance_sums_over_everything_else():
    grammar = CORRO.grammar
    names = ["DB-By-A", "DI-O-A", "DI-Bx-A", "CB-A"]
    tags = np.array([CORRO.tags.index(name) for name in names])
    scores = np.random.default_rng(0).normal(size=(4, 10))
    found = chances(grammar, scores, tags, [Mention((0, 2), "A"), Mention((3,), "A")])
    opening = set(grammar.opening)
    ends = {CORRO.tags.index(f"DI-I{kind}-A") for kind in "xy"}

    def pair(own):
        kinds = {("DB-Bx-A", "DI-By-A"), ("DB-By-A", "DI-Bx-A")}  # no set begins before word 0
        named = (CORRO.tags[own[0]], CORRO.tags[own[2]])
        return (
            named in kinds and own[1] not in opening and own[1] not in ends and own[3] not in ends
        )

    assert found[0] == pytest.approx(automaton_naive.chance(grammar.automaton, scores, pair))
    single = automaton_naive.chance(grammar.automaton, scores, lambda own: own[3] == tags[3])
    assert found[1] == pytest.approx(single)


def test_scores_are_chances_between_0_and_1_even_when_sure():
    scores = np.eye(10)[CORRO.encode([Mention((0, 2), "A")], 3).tags] * 1e4
    decoding = decode(CORRO.grammar, scores, lambda tags: [Mention((0, 2), "A")], limit=1)
    assert [scored.score for scored in decoding.mentions] == [1.0]
    assert decode(CORRO.grammar, scores, lambda tags: [], limit=1).mentions == ()
