from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import automaton_naive, marginals_naive
from tiny_models import make_scheme
from trigner.mentions import Mention
from trigner.schemes.corro import Corro
from trigner.schemes.marginals import marginals, prefixes_of

CORRO = Corro(("A",))


def test_mentions_with_the_same_first_segments_share_them():
    own = [(0, 2, 3), (0, 2, 3, 7), (0, 5), (1, 5), (0, 2, 3)]
    prefixes = prefixes_of([Mention(words, "A") for words in own])
    assert prefixes.first.tolist() == [0, 2, 7, 5, 1, 5]
    assert prefixes.last.tolist() == [0, 3, 7, 5, 1, 5]
    assert prefixes.before.tolist() == [-1, 0, 1, 0, -1, 4]
    assert prefixes.until.tolist() == [5, 7, 0, 0, 5, 0]
    assert prefixes.whole.tolist() == [1, 2, 3, 5, 1]


def test_a_marginal_sums_over_everything_else():
    grammar = CORRO.grammar
    names = ["DB-By-A", "DI-O-A", "DI-Bx-A", "CB-A"]
    tags = np.array([CORRO.tags.index(name) for name in names])
    scores = np.random.default_rng(0).normal(size=(4, 10))
    distribution = grammar.automaton.distribution(scores)
    found = marginals(grammar, distribution, tags, [Mention((0, 2), "A"), Mention((3,), "A")])
    opening = set(grammar.opening)
    ends = {CORRO.tags.index(f"DI-I{kind}-A") for kind in "xy"}

    def pair(own):
        kinds = {("DB-Bx-A", "DI-By-A"), ("DB-By-A", "DI-Bx-A")}  # no set begins before word 0
        named = (CORRO.tags[own[0]], CORRO.tags[own[2]])
        return (
            named in kinds and own[1] not in opening and own[1] not in ends and own[3] not in ends
        )

    assert found[0] == pytest.approx(automaton_naive.probability(grammar.automaton, scores, pair))
    single = automaton_naive.probability(grammar.automaton, scores, lambda own: own[3] == tags[3])
    assert found[1] == pytest.approx(single)


@pytest.mark.parametrize("name", ["corro", "biohd", "biohd1234", "bio"])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_they_equal_sums_over_the_whole_sentence(name, data):
    labels = data.draw(st.sampled_from([("A",), ("A", "B")]))
    length = data.draw(st.integers(1, 12))
    grammar = make_scheme(name, labels).grammar
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    spread = data.draw(st.sampled_from([0.0, 1.0, 5.0, 300.0]))
    arcs = data.draw(st.booleans()) and name != "corro"
    width = len(grammar.automaton.arcs) if arcs else len(grammar.tags)
    scores = rng.normal(size=(length, width)) * spread
    tags = grammar.automaton.best(scores + rng.normal(size=scores.shape)).tags
    words = st.sets(st.integers(0, length - 1), min_size=1, max_size=6)
    mentions = [
        Mention(tuple(sorted(own)), "A")
        for own in data.draw(st.lists(words, min_size=1, max_size=8))
    ]
    distribution = grammar.automaton.distribution(scores)
    np.testing.assert_allclose(
        marginals(grammar, distribution, tags, mentions),
        marginals_naive.marginals(grammar, scores, tags, mentions),
        atol=1e-9,
    )
