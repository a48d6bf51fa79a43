from __future__ import annotations

import pytest

from trigner.schemes.chain import Segment
from trigner.schemes.merging import (
    Kind,
    Piece,
    merged,
    merged_by_digits,
    pieces_of,
    pointed_to,
    words_of,
)


def heads(*words):
    return [Segment(Kind.HEAD, first, last) for first, last in words]


def parts(*words):
    return [Segment(Kind.PART, first, last) for first, last in words]


def test_pieces():
    mentions = [(0, 1, 2), (0, 1, 5), (7, 8), (9,)]
    assert pieces_of(mentions) == [
        Piece(Kind.HEAD, 0, 1, frozenset({0, 1})),
        Piece(Kind.PART, 2, 2, frozenset({0})),
        Piece(Kind.PART, 5, 5, frozenset({1})),
        Piece(Kind.PLAIN, 7, 8, frozenset({2})),
        Piece(Kind.PLAIN, 9, 9, frozenset({3})),
    ]
    touching = pieces_of([(0, 2), (1, 4)])
    assert [(p.first, p.last) for p in touching] == [(0, 0), (1, 1), (2, 2), (4, 4)]


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
