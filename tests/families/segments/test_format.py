"""The format: which combinations of segments are candidates, and what comes back."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oracles import segments_naive as naive
from trigner.families.segments.format import SegmentFormat
from trigner.mentions import Mention

LABELS = ("ADR", "Drug")
FORMAT = SegmentFormat(LABELS)
PAPER = SegmentFormat(LABELS, max_width=6, pair_gap=16, chain_gap=2)

spans = st.sets(
    st.tuples(st.integers(0, 30), st.integers(0, 3)).map(lambda own: (own[0], sum(own))), max_size=8
)
mentions = st.builds(
    lambda words, label: Mention(tuple(sorted(words)), label),
    st.sets(st.integers(0, 11), min_size=1, max_size=7),
    st.sampled_from(LABELS),
)


def found(format, own, weights=None):
    ordered = np.array(sorted(own), dtype=np.int64).reshape(-1, 2)
    weights = np.zeros(len(ordered)) if weights is None else np.array(weights, dtype=float)
    groups, complete = format.candidates(ordered, weights)
    chosen = [tuple(tuple(s) for s in ordered[row].tolist()) for g in groups for row in g]
    assert len(chosen) == len(set(chosen))
    return set(chosen), complete


def test_the_articles_rules():
    """Specification, section 9, tests 7 and 8."""
    a, b, far, c = (0, 0), (2, 2), (20, 20), (5, 5)
    singles = {(a,), (b,), (far,)}
    assert found(PAPER, {a, b, far}) == ({*singles, (a, b)}, True)
    assert (a, b, c) in found(PAPER, {a, b, c})[0]
    assert (a, b, (6, 6)) not in found(PAPER, {a, b, (6, 6)})[0]
    assert found(PAPER, {(0, 1), (2, 3), (3, 4)})[0] == {((0, 1),), ((2, 3),), ((3, 4),)} | {
        ((0, 1), (3, 4))
    }
    assert ((0, 0), (17, 17)) in found(PAPER, {(0, 0), (17, 17)})[0]
    assert ((0, 0), (18, 18)) not in found(PAPER, {(0, 0), (18, 18)})[0]


@given(spans, st.integers(1, 4), st.integers(1, 20), st.integers(1, 20))
def test_candidates_are_those_of_enumeration(own, most, pair_gap, chain_gap):
    format = SegmentFormat(LABELS, 12, most, pair_gap, chain_gap)
    assert found(format, own) == (naive.candidates(sorted(own), most, pair_gap, chain_gap), True)


def test_of_too_many_candidates_the_best_are_taken():
    few = SegmentFormat(LABELS, max_candidates=3)
    own = [(2 * n, 2 * n) for n in range(4)]
    chosen, complete = found(few, own, [-1, -2, -3, -0.5])
    a, b, _, d = own
    assert not complete
    assert {c for c in chosen if len(c) < 3} == {(a,), (b,), (d,), (a, b), (a, d), (b, d)}
    assert found(SegmentFormat(LABELS, max_candidates=6), own)[1]


def test_400_words_of_which_every_second_is_a_segment():
    own = [(n, n) for n in range(0, 400, 2)]
    chosen, complete = found(FORMAT, own)
    assert not complete
    assert len(chosen) == 200 + 2 * FORMAT.max_candidates


@given(st.lists(mentions, max_size=6, unique=True))
def test_what_comes_back_is_what_went_in_or_is_lost(gold):
    format = SegmentFormat(LABELS, max_width=3, max_segments=3, pair_gap=4, chain_gap=2)
    back, complete = format.round_trip(gold, 12)
    assert complete
    assert len(back) == len(set(back))
    expressible = set()
    for mention in gold:
        segments = mention.segments
        gap = 4 if len(segments) == 2 else 2
        if (
            len(segments) <= 3
            and all(b - a < 3 for a, b in segments)
            and all(b[0] - a[1] - 1 <= gap for a, b in pairwise(segments))
        ):
            expressible.add(mention)
    assert set(back) == expressible


def test_a_segment_that_is_no_mention_is_a_negative():
    """Section 7: a part of a discontinuous mention is no mention by itself."""
    (own,) = FORMAT.encode([Mention((0, 1, 4), "ADR")])
    assert own.spans.tolist() == [[0, 1], [4, 4]]
    assert [g.tolist() for g in own.groups] == [[[0], [1]], [[0, 1]], []]
    assert [w.tolist() for w in own.wanted] == [[False, False], [True], []]


def test_further_segments_give_further_negatives():
    gold = [Mention((0,), "ADR"), Mention((0, 2), "ADR")]
    more = [Mention((2, 3), "ADR"), Mention((0,), "ADR"), Mention((1,), "Drug")]
    one, other = FORMAT.encode(gold, more)
    assert one.mentions("ADR") == gold
    assert one.spans.tolist() == [[0, 0], [2, 2], [2, 3]]
    assert other.mentions("Drug") == []
    assert other.spans.tolist() == [[1, 1]]
    first = SegmentFormat(LABELS, max_candidates=1).encode([Mention((4,), "ADR")], more)
    assert first[0].mentions("ADR") == [Mention((4,), "ADR")]


def test_segments_are_different_and_narrow():
    narrow = SegmentFormat(LABELS, max_width=2)
    gold = [Mention((0, 1, 3), "ADR"), Mention((0, 1), "ADR"), Mention((3, 4, 5), "ADR")]
    assert narrow.segments(gold) == [Mention((0, 1), "ADR"), Mention((3,), "ADR")]


def test_unknown_labels_and_words_are_refused(refused):
    with refused(error=ValueError):
        FORMAT.round_trip([Mention((0,), "other")], 1)
    with refused(error=ValueError):
        FORMAT.round_trip([Mention((1,), "ADR")], 1)
