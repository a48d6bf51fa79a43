from __future__ import annotations

import pytest

from trigner.schemes.chain import Segment
from trigner.schemes.merging import (
    Kind,
    Piece,
    glued,
    glued_by_digits,
    pieces_of,
    pointed_to,
    words_of,
)


def heads(*words):
    return [Segment(Kind.HEAD, first, last) for first, last in words]


def parts(*words):
    return [Segment(Kind.PART, first, last) for first, last in words]


def test_subwords():
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
    ("number", "all_", "pair"),
    [
        (0, [], []),
        (1, [(0,)], [(0,)]),
        (3, [(0, 2, 4)], [(0, 2, 4)]),
        (4, [(0, 2, 4, 6)], [(0, 2), (4, 6)]),
        (5, [(0, 2, 4, 6, 8)], [(0, 2), (4, 6, 8)]),
    ],
)
def test_parts_without_heads(number, all_, pair):
    own = parts(*[(2 * n, 2 * n) for n in range(number)])
    assert glued([], own, "nearest", "all") == all_
    assert glued([], own, "nearest", "pair") == pair


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        # The part at 4 is as near to the head at 2 as to that at 6: the left one has it.
        ("nearest", {(0, 2), (2, 4), (6,), (10, 12)}),
        ("all_h", {(0, 2, 6, 10), (2, 4, 6, 10), (2, 6, 10, 12)}),
        (
            "product",
            {tuple(sorted((head, part))) for head in (2, 6, 10) for part in (0, 4, 12)},
        ),
    ],
)
def test_parts_with_heads(rule, expected):
    found = glued(heads((2, 2), (6, 6), (10, 10)), parts((0, 0), (4, 4), (12, 12)), rule, "all")
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_heads_alone():
    assert glued(heads((0, 1), (3, 3)), [], "all_h", "all") == [(0, 1), (3,)]


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
    found = glued_by_digits(heads((2, 2), (8, 8), (12, 12)), own, digits)
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_a_chain_of_parts_has_all_their_heads():
    own = parts((4, 4), (6, 6), (10, 10))
    found = glued_by_digits(heads((2, 2), (12, 12)), own, [1, 3, 3])
    assert set(found) == {(2, 4, 6, 10), (12,)}
    found = glued_by_digits(heads((2, 2), (12, 12)), own, [1, 4, 2])
    assert set(found) == {(2, 4), (6, 10, 12)}


def test_words_of():
    assert words_of(Segment(0, 5, 6), Segment(0, 1, 2)) == (1, 2, 5, 6)
