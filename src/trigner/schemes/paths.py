"""Paths of links from heads to tails, best first, up to a limit.

What the schemes that link words share: links lead from a word to a later one, and a mention is an
increasing path of links from a head to a tail that something licenses.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from trigner.arrays import Floats, Integers


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths, best first: (log-probability, index of the pair of head and tail, words).

    `complete` is False when there are more than the limit.
    """

    found: list[tuple[float, int, tuple[int, ...]]]
    complete: bool


class Links:
    """Links as successor lists, with the best log-probability from each word to each tail.

    A link leads from its row to its column, a later word. Links come row by row, columns
    increasing, as `numpy.nonzero` gives them; `weights` are their log-probabilities.
    """

    def __init__(self, rows: Integers, columns: Integers, weights: Floats, length: int) -> None:
        starts = np.searchsorted(rows, np.arange(length + 1))
        self._next = [columns[a:b] for a, b in pairwise(starts)]
        self._weight = [weights[a:b] for a, b in pairwise(starts)]
        self._steps: dict[tuple[int, int], _Steps] = {}
        self._tails: Integers = np.zeros(0, dtype=np.int64)
        self._best: Floats = np.zeros((0, length))
        self._to: dict[int, Floats] = {}

    @classmethod
    def of(cls, links: Sequence[tuple[Integers, Integers, Floats]], length: int) -> Links:
        """Links in any order, given in groups."""
        rows, columns, weights = (np.concatenate(part) for part in zip(*links, strict=True))
        order = np.lexsort((columns, rows))
        return cls(rows[order], columns[order], weights[order], length)

    def reach(self, tails: Integers) -> None:
        """Compute the best log-probability of a path from each word to each of `tails`.

        Links only lead to later words, so one backward sweep is exact; words that cannot reach a
        tail keep minus infinity, which prunes them.
        """
        self._tails = np.unique(tails)
        best = np.full((len(self._next), len(self._tails)), -np.inf)
        best[self._tails, np.arange(len(self._tails))] = 0.0
        through = np.empty_like(best)
        for word in range(len(self._next) - 1, -1, -1):
            if count := len(self._next[word]):
                # No link leads to the word itself or an earlier one.
                later = slice(int(np.searchsorted(self._tails, word, side="right")), None)
                ways = through[:count, later]
                onward = _rows(best, self._next[word])[:, later]
                np.add(onward, self._weight[word][:, None], out=ways)
                np.maximum(best[word, later], ways.max(axis=0), out=best[word, later])
        self._best = np.ascontiguousarray(best.T)
        self._to = dict(zip(self._tails.tolist(), self._best, strict=True))

    def best(self, heads: Integers, tails: Integers) -> Floats:
        """Best log-probability from each head to its tail; minus infinity without a path."""
        return self._best[np.searchsorted(self._tails, tails), heads]

    def steps(self, word: int, tail: int) -> _Steps:
        """The links that lead on from `word` to `tail`, best first."""
        found = self._steps.get((word, tail))
        if found is None:
            successors, weights = self._next[word], self._weight[word]
            bounds = weights + _rows(self._to[tail], successors)
            found = self._steps[word, tail] = _Steps(successors, weights, bounds)
        return found


def _rows(table: Floats, numbers: Integers) -> Floats:
    """Rows of a table, a view where they are consecutive. `numbers` increase."""
    first, last = int(numbers[0]), int(numbers[-1])
    return table[first : last + 1] if last - first + 1 == len(numbers) else table[numbers]


class _Steps:
    """Links from one word on to one tail, best first, sorted lazily."""

    def __init__(self, successors: Integers, weights: Floats, bounds: Floats) -> None:
        self._successors, self._weights, self._bounds = successors, weights, bounds
        self._ordered: list[tuple[float, int, float]] = []

    def step(self, index: int) -> tuple[float, int, float] | None:
        """(bound, next word, link weight) of the `index`-th best link; None past the last."""
        while len(self._ordered) <= index:
            # Of equals the farthest word: the shorter mention.
            best = len(self._bounds) - 1 - int(self._bounds[::-1].argmax())
            bound = float(self._bounds[best])
            if bound == -math.inf:
                return None
            self._ordered.append((bound, int(self._successors[best]), float(self._weights[best])))
            self._bounds[best] = -math.inf
        return self._ordered[index]


def best_paths(
    links: Links, heads: Integers, tails: Integers, weights: Floats, limit: int | None
) -> Paths:
    """Paths from each head to its tail, best log-probability first, at most `limit` of them.

    `weights` are the log-probabilities of the pairs themselves; a path's is the sum of its pair's
    and its links'. A head that is its own tail is a path of one word.

    Best-first search with an exact bound (`Links.best`), so paths come out in order. A state is a
    path so far and which of its next steps to take; each state taken from the queue yields a path,
    so work grows with the paths returned and not with those that exist.
    """
    links.reach(tails)
    totals = weights + links.best(heads, tails)
    reachable = np.flatnonzero(totals > -np.inf)
    complete = limit is None or len(reachable) <= limit
    if limit and not complete:
        # Each pair has a path of its own, so only the `limit` best pairs can matter.
        bar = -np.partition(-totals, limit - 1)[limit - 1]
        reachable = np.flatnonzero(totals >= bar)
    reachable = reachable[np.argsort(-totals[reachable], kind="stable")]
    # state: (-bound, tie-break, pair, words so far, log-probability, index of the next step)
    queue: list[tuple[float, int, int, tuple[int, ...], float, int]] = [
        (-float(totals[c]), n, int(c), (int(heads[c]),), float(weights[c]), 0)
        for n, c in enumerate(reachable[:limit])
    ]
    tie = 0
    found: list[tuple[float, int, tuple[int, ...]]] = []
    while queue:
        if limit is not None and len(found) >= limit:
            return Paths(found, complete=False)
        _, _, pair, words, total, index = heapq.heappop(queue)
        tail = int(tails[pair])
        # Nothing in the queue is better than the best way on from here: follow it to its end.
        while words[-1] != tail:
            steps = links.steps(words[-1], tail)
            taken, following = steps.step(index), steps.step(index + 1)
            assert taken is not None  # words on the way to a tail have a link that leads there
            if following is not None:
                # Of equals the last one comes first: a late branch is soon at its end.
                tie -= 1
                later = -(total + following[0])
                heapq.heappush(queue, (later, tie, pair, words, total, index + 1))
            words, total, index = (*words, taken[1]), total + taken[2], 0
        found.append((total, pair, words))
    return Paths(found, complete)
