from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import span_grid_naive
from trigner.mentions import Mention
from trigner.schemes import SpanGrid

LABELS = ("ADR", "Drug")
GRID = SpanGrid(LABELS)

mentions = st.builds(
    lambda words, label: Mention(tuple(sorted(words)), label),
    st.sets(st.integers(0, 7), min_size=1, max_size=5),
    st.sampled_from(LABELS),
)


def named(tags):
    """Tag name and cell of each tag that is there."""
    return {(GRID.tags[tag], int(i), int(j)) for i, j, tag in np.argwhere(tags)}


def tags_of(*words, length=10):
    return GRID.encode([Mention(own, "ADR") for own in words], length).tags


def decoded(tags):
    return {scored.mention.words for scored in GRID.decode_tags(tags).mentions}


def test_tags_of_two_mentions():
    assert named(tags_of((0, 2), (0, 1, 2, 4))) == {
        *[("BI-ADR", 0, 0), ("II-N-ADR", 1, 1), ("IE-ADR", 2, 2)],
        *[("BI-ADR", 0, 2), ("II-N-ADR", 3, 3), ("IE-ADR", 4, 4)],
    }
    assert decoded(tags_of((0, 2), (0, 1, 2, 4))) == {(0, 2), (0, 1, 2, 4)}


def test_three_segments_and_two_gaps():
    assert named(tags_of((0, 3, 4, 7))) == {
        *[("BI-ADR", 0, 0), ("II-ADR", 3, 4), ("IE-ADR", 7, 7)],
        *[("II-N-ADR", 1, 2), ("II-N-ADR", 5, 6)],
    }
    assert named(GRID.encode([Mention((1, 2), "Drug")], 4).tags) == {("BE-Drug", 1, 2)}


def test_groups_of_tags():
    assert GRID.tags[4:8] == ("BE-Drug", "BI-Drug", "II-Drug", "IE-Drug")
    assert GRID.tags[8:] == ("II-N-ADR", "II-N-Drug")
    segments, gaps = GRID.groups
    assert (segments.start, segments.stop, gaps.start, gaps.stop) == (0, 8, 8, 10)
    assert segments.upper
    assert gaps.upper


@pytest.mark.parametrize(
    "gold",
    [
        {(0, 1, 2), (0, 2, 4)},
        {(0, 1, 3, 4, 6), (0, 2, 3, 5, 6)},
        {(0,), (0, 2)},
        {(0, 4), (0, 2, 4), (0, 2), (2, 4)},
        {(0, 4), (0, 6), (2, 4), (2, 6)},
    ],
)
def test_exact(gold):
    assert decoded(tags_of(*gold)) == gold


def test_segments_that_end_with_the_same_word_exchange_what_follows():
    gold = {(0, 2, 4), (1, 2, 5)}
    assert decoded(tags_of(*gold)) == {*gold, (0, 2, 5), (1, 2, 4)}
    gold = {(0, 2, 4, 6), (0, 3, 4, 7)}
    assert decoded(tags_of(*gold)) > gold


@pytest.mark.parametrize("missing", ["BI", "II", "IE", "II-N"])
def test_without_one_of_its_tags_there_is_no_mention(missing):
    tags = tags_of((0, 2, 4))
    tags[:, :, GRID.tags.index(f"{missing}-ADR")] = 0
    assert decoded(tags) == set()


@given(st.lists(mentions, max_size=6, unique=True))
def test_every_mention_comes_back(gold):
    encoding = GRID.encode(gold, 8)
    decoding = GRID.decode_tags(encoding.tags)
    assert encoding.lost == ()
    assert {scored.mention for scored in decoding.mentions} >= set(gold)
    assert decoding.complete
    assert all(scored.score == 1 for scored in decoding.mentions)


@settings(max_examples=60)
@given(st.integers(0, 6), st.integers(0, 2**32 - 1), st.sampled_from([-1.5, -0.5, 0.5]))
def test_as_the_oracle(length, seed, middle):
    scores = np.random.default_rng(seed).normal(middle, 1, (length, length, len(GRID.tags)))
    decoding = GRID.decode(scores)
    found = {(m.mention.words, m.mention.label): m.score for m in decoding.mentions}
    assert decoding.complete
    assert len(found) == len(decoding.mentions)
    assert found == pytest.approx(span_grid_naive.decode(scores, LABELS))
    assert [m.score for m in decoding.mentions] == sorted(found.values(), reverse=True)


def test_the_best_are_kept():
    scores = np.random.default_rng(0).normal(1, 1, (7, 7, len(GRID.tags)))
    every = GRID.decode(scores).mentions
    few = SpanGrid(LABELS, max_mentions=5).decode(scores)
    assert len(every) > 50
    assert few.mentions == every[:5]
    assert not few.complete


def test_a_score_is_the_product_of_its_tags_probabilities():
    scores = np.full((8, 8, len(GRID.tags)), -3.0)
    mention = Mention((0, 3, 4, 7), "ADR")
    tagged = GRID.encode([mention], 8).tags > 0
    scores[tagged] = [0.5, 1.0, 1.5, 2.0, 2.5]
    (found,) = GRID.decode(scores).mentions
    assert found.mention == mention
    assert found.score == pytest.approx(np.prod(1 / (1 + np.exp(-scores[tagged]))))


def test_400_words_with_every_tag_in_every_cell():
    scores = np.full((400, 400, len(GRID.tags)), 1.0)
    start = time.monotonic()
    decoding = GRID.decode(scores)
    assert time.monotonic() - start < 20
    assert len(decoding.mentions) == 1000
    assert not decoding.complete
