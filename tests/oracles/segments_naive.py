"""Segments by enumeration: every set of spans, each with its score; candidates from the rules.

Written from Wang and Lu (2019), section 3, as the specification has it: `TI`, `TX`, `II` and `IX`
are scores of edges, here `begins`, 0, `on` and `ends`. Knows nothing of charts or recursions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, combinations, pairwise

import numpy as np

Span = tuple[int, int]


def spans(length: int, width: int) -> list[Span]:
    return [(a, b) for a in range(length) for b in range(a, min(length, a + width))]


def score(
    chosen: Iterable[Span],
    begins: Callable[[int], float],
    on: Callable[[int], float],
    ends: Callable[[int, int], float],
) -> float:
    """Of a set of spans of one type: for each first word one chain, as long as its longest."""
    total = 0.0
    own = sorted(chosen)
    for first in {a for a, _ in own}:
        lasts = [b for a, b in own if a == first]
        total += begins(first) + sum(on(word) for word in range(first, max(lasts)))
        total += sum(ends(first, last) for last in lasts)
    return total


class Sets:
    """Every set of spans of up to `width` words, of one type, with its score."""

    def __init__(
        self,
        length: int,
        width: int,
        begins: Callable[[int], float],
        on: Callable[[int], float],
        ends: Callable[[int, int], float],
    ) -> None:
        every = spans(length, width)
        sizes = range(len(every) + 1)
        self.chosen = [
            frozenset(c) for c in chain.from_iterable(combinations(every, n) for n in sizes)
        ]
        self.scores = np.array([score(c, begins, on, ends) for c in self.chosen])

    def log_partition(self) -> float:
        return float(np.logaddexp.reduce(self.scores))

    def best(self) -> frozenset[Span]:
        return self.chosen[int(self.scores.argmax())]

    def marginal(self, span: Span) -> float:
        weights = np.exp(self.scores - self.log_partition())
        return float(weights[[span in c for c in self.chosen]].sum())


def candidates(
    own: Sequence[Span], most: int, pair_gap: int, chain_gap: int
) -> set[tuple[Span, ...]]:
    """Combinations of segments that may be mentions."""
    found = set()
    for count in range(1, most + 1):
        bound = pair_gap if count == 2 else chain_gap
        for chosen in combinations(sorted(own), count):
            if all(1 <= b[0] - a[1] - 1 <= bound for a, b in pairwise(chosen)):
                found.add(chosen)
    return found
