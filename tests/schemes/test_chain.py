from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from trigner.schemes.chain import Segment, chain, segments

GRAMMAR = chain([("B", "I"), ("DB", "DI")])


def test_what_may_follow_what():
    assert GRAMMAR.tags == ("O", "B", "I", "DB", "DI")
    before = {"I": {"B", "I"}, "DI": {"DB", "DI"}}
    for length in range(5):
        for tags in product(range(5), repeat=length):
            names = ["O", *(GRAMMAR.tags[tag] for tag in tags)]
            fits = all(a in before.get(b, {a}) for a, b in pairwise(names))
            assert GRAMMAR.automaton.accepts(tags) == fits


def test_a_state_for_each_tag():
    for arc in GRAMMAR.automaton.arcs:
        assert GRAMMAR.automaton.states[arc.target] == GRAMMAR.tags[arc.tag]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ([0, 1, 2, 2, 0], [Segment(0, 1, 3)]),
        ([1, 1, 3, 4], [Segment(0, 0, 0), Segment(0, 1, 1), Segment(1, 2, 3)]),
        ([2, 4, 0, 4], [Segment(0, 0, 0), Segment(1, 1, 1), Segment(1, 3, 3)]),
        ([], []),
    ],
)
def test_segments(tags, expected):
    assert segments(np.array(tags, dtype=np.int64)) == expected
