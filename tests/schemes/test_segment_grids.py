"""What holds of every grid of segments and gaps."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import gap_grid_naive, span_grid_naive
from trigner.mentions import Mention
from trigner.schemes.gap_grid import GapGrid
from trigner.schemes.span_grid import SpanGrid

LABELS = ("ADR", "Drug")

pytestmark = pytest.mark.parametrize("kind", [GapGrid, SpanGrid])

mentions = st.builds(
    lambda words, label: Mention(tuple(sorted(words)), label),
    st.sets(st.integers(0, 7), min_size=1, max_size=5),
    st.sampled_from(LABELS),
)


@given(gold=st.lists(mentions, max_size=6, unique=True))
def test_every_mention_comes_back(kind, gold):
    grid = kind(LABELS)
    encoding = grid.encode(gold, 8)
    decoding = grid.decode_tags(encoding.tags)
    assert encoding.lost == ()
    assert {scored.mention for scored in decoding.mentions} >= set(gold)
    assert decoding.complete
    assert all(scored.score == 1 for scored in decoding.mentions)


@settings(max_examples=60)
@given(
    length=st.integers(0, 6),
    seed=st.integers(0, 2**32 - 1),
    middle=st.sampled_from([-1.2, -0.4, 0.4]),
)
def test_as_the_oracle(kind, length, seed, middle):
    grid = kind(LABELS)
    oracle = {GapGrid: gap_grid_naive, SpanGrid: span_grid_naive}[kind]
    scores = np.random.default_rng(seed).normal(middle, 1, (length, length, len(grid.tags)))
    decoding = grid.decode(scores)
    found = {(m.mention.words, m.mention.label): m.score for m in decoding.mentions}
    assert decoding.complete
    assert len(found) == len(decoding.mentions)
    assert found == pytest.approx(oracle.decode(scores, LABELS))
    assert [m.score for m in decoding.mentions] == sorted(found.values(), reverse=True)


def test_the_best_are_kept(kind):
    grid = kind(LABELS)
    scores = np.random.default_rng(0).normal(1, 1, (8, 8, len(grid.tags)))
    every = grid.decode(scores).mentions
    few = kind(LABELS, max_mentions=5).decode(scores)
    assert len(every) > 50
    assert few.mentions == every[:5]
    assert not few.complete


def test_a_score_is_the_product_of_its_tags_probabilities(kind):
    grid = kind(LABELS)
    scores = np.full((8, 8, len(grid.tags)), -3.0)
    mention = Mention((0, 3, 4, 7), "ADR")
    tagged = grid.encode([mention], 8).tags > 0
    scores[tagged] = np.linspace(0.5, 3, tagged.sum())
    (found,) = grid.decode(scores).mentions
    assert found.mention == mention
    assert found.score == pytest.approx(np.prod(1 / (1 + np.exp(-scores[tagged]))))


def test_400_words_with_every_tag_in_every_cell(kind):
    grid = kind(LABELS)
    scores = np.full((400, 400, len(grid.tags)), 1.0)
    start = time.monotonic()
    decoding = grid.decode(scores)
    assert time.monotonic() - start < 20
    assert len(decoding.mentions) == 1000
    assert not decoding.complete
