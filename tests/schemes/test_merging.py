from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.schemes.chain import Segment
from trigner.schemes.merging import (
    Kind,
    merged,
    merged_by_digits,
    pointed_to,
    segments_of,
    shared_runs,
    words_of,
)


def heads(*words):
    return [Segment(Kind.HEAD, first, last) for first, last in words]


def parts(*words):
    return [Segment(Kind.PART, first, last) for first, last in words]


def test_segments():
    mentions = [(0, 1, 2), (0, 1, 5), (7, 8), (9,)]
    assert list(segments_of(mentions).items()) == [
        (Segment(Kind.HEAD, 0, 1), {0, 1}),
        (Segment(Kind.PART, 2, 2), {0}),
        (Segment(Kind.PART, 5, 5), {1}),
        (Segment(Kind.PLAIN, 7, 8), {2}),
        (Segment(Kind.PLAIN, 9, 9), {3}),
    ]
    touching = segments_of([(0, 2), (1, 4)])
    assert [(s.first, s.last) for s in touching] == [(0, 0), (1, 1), (2, 2), (4, 4)]


@given(st.lists(st.sets(st.integers(0, 9), min_size=1).map(sorted).map(tuple), max_size=4))
def test_shared_runs_hold_every_word_once_and_are_as_long_as_possible(mentions):
    runs = shared_runs(mentions)
    owners = {word: own for words, own in runs for word in words}
    words = [word for own, _ in runs for word in own]
    assert words == sorted({word for mention in mentions for word in mention})
    assert all(own == {n for n, m in enumerate(mentions) if w in m} for w, own in owners.items())
    for (before, one), (after, other) in pairwise(runs):
        assert one != other or after[0] > before[-1] + 1
    assert all(b == a + 1 for own, _ in runs for a, b in pairwise(own))


@pytest.mark.parametrize(
    ("number", "expected"), [(0, []), (1, [(0,)]), (3, [(0, 2, 4)]), (4, [(0, 2, 4, 6)])]
)
def test_parts_without_heads_are_one_mention(number, expected):
    own = parts(*[(2 * n, 2 * n) for n in range(number)])
    assert merged([], own) == expected


def test_parts_join_the_nearest_head():
    found = merged(heads((2, 2), (6, 6), (10, 10)), parts((0, 0), (4, 4), (12, 12)))
    # The part at 4 is as near to the head at 2 as to that at 6: it joins the left one.
    assert sorted(found) == [(0, 2), (2, 4), (6,), (10, 12)]


def test_heads_alone():
    assert merged(heads((0, 1), (3, 3)), []) == [(0, 1), (3,)]


@pytest.mark.parametrize(
    ("digit", "expected"), [(1, (3, 3)), (2, (9, 9)), (3, (1, 1)), (4, (7, 7))]
)
def test_digits_point_to_the_nearest(digit, expected):
    all_heads, all_parts = heads((0, 0), (3, 3), (9, 9), (11, 11)), parts((1, 1), (5, 5), (7, 7))
    found = pointed_to(digit, all_parts[1], all_heads, all_parts)
    assert (found.first, found.last) == expected
    assert pointed_to(digit, all_parts[1], [], [all_parts[1]]) is None


@pytest.mark.parametrize(
    ("digits", "expected"),
    [
        ([1, 1, 1], {(2, 4), (2, 6), (8, 10), (12,)}),
        # To the head at 8, to the first part, to nothing.
        ([2, 3, 4], {(4, 6, 8), (10,), (2,), (12,)}),
    ],
)
def test_linked_parts_are_one_mention(digits, expected):
    own = parts((4, 4), (6, 6), (10, 10))
    found = merged_by_digits(heads((2, 2), (8, 8), (12, 12)), own, digits)
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_a_chain_of_parts_has_all_their_heads():
    own = parts((4, 4), (6, 6), (10, 10))
    found = merged_by_digits(heads((2, 2), (12, 12)), own, [1, 3, 3])
    assert set(found) == {(2, 4, 6, 10), (12,)}
    found = merged_by_digits(heads((2, 2), (12, 12)), own, [1, 4, 2])
    assert set(found) == {(2, 4), (6, 10, 12)}


def test_words_of():
    assert words_of(Segment(0, 5, 6), Segment(0, 1, 2)) == (1, 2, 5, 6)
