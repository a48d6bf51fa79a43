"""W2NER's word-word relations: next-neighbouring words and typed tail-head words.

Li et al., Unified Named Entity Recognition as Word-Word Relation Classification, AAAI 2022.
A mention with the words `w1 < ... < wk` becomes the links `(w1, w2), ..., (wk-1, wk)` above the
diagonal (NNW, next-neighbouring word) and the cell `(wk, w1)` on or below it (THW, tail-head word),
whose class is the mention's type. Decoding reads every increasing path of links from a head to a
tail that some THW cell licenses.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from trigner.mentions import Mention, ScoredMention
from trigner.schemes.scheme import Decoding, Encoding, Scores, TagGroup, Tags, TagSpace

NONE, NNW, FIRST_THW = 0, 1, 2

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class W2ner:
    """Grid of word pairs with one class per cell: NONE, NNW or THW-type.

    `max_mentions` bounds what one sentence decodes to; the best are kept and the hit is told.
    None removes the bound: an early model can then produce exponentially many mentions.
    """

    labels: tuple[str, ...]
    max_mentions: int | None = 1000
    name: str = field(default="w2ner", init=False)
    tag_space: TagSpace = field(default=TagSpace.EXCLUSIVE_GRID, init=False)
    groups: tuple[TagGroup, ...] = field(default=(), init=False)

    @property
    def tags(self) -> tuple[str, ...]:
        """NONE, NNW, then THW-type for each label."""
        return ("NONE", "NNW", *(f"THW-{label}" for label in self.labels))

    def encode(self, mentions: Sequence[Mention], length: int) -> Encoding:
        """Tags `[L, L]`. Of mentions with equal head and tail but different types the last wins."""
        tags = np.zeros((length, length), dtype=np.int64)
        owner: dict[tuple[int, int], list[Mention]] = {}
        lost: list[Mention] = []
        for mention in mentions:
            words = mention.words
            if words[-1] >= length:
                raise ValueError(f"word {words[-1]} is outside a sentence of {length} words")
            if mention.label not in self.labels:
                raise ValueError(f"unknown label {mention.label!r}")
            corner = (words[-1], words[0])
            licensed = owner.setdefault(corner, [])
            if licensed and licensed[-1].label != mention.label:
                lost += licensed
                licensed.clear()
            licensed.append(mention)
            tags[corner] = FIRST_THW + self.labels.index(mention.label)
            tags[words[:-1], words[1:]] = NNW
        return Encoding(tags, tuple(lost))

    def decode(self, scores: Scores) -> Decoding:
        """Mentions from scores `[L, L, C]`; each cell stands for its best class.

        A mention's score is the product of the softmax probabilities of its cells.
        """
        classes = _best_classes(scores)
        rows, columns = np.nonzero(classes)
        # Classes first: numpy's reductions over a short last axis are slow.
        cells = np.ascontiguousarray(scores[rows, columns].T, dtype=np.float64)
        cells -= cells.max(axis=0)
        log_probability = -np.log(np.exp(cells, out=cells).sum(axis=0))
        return self._decode_cells(
            rows, columns, classes[rows, columns], log_probability, len(classes)
        )

    def decode_tags(self, tags: Tags) -> Decoding:
        """Mentions from tags `[L, L]`, each with score 1."""
        rows, columns = np.nonzero(tags)
        return self._decode_cells(
            rows, columns, tags[rows, columns].astype(np.int64), np.zeros(len(rows)), len(tags)
        )

    def _decode_cells(
        self,
        rows: Integers,
        columns: Integers,
        classes: Integers,
        log_probability: Floats,
        length: int,
    ) -> Decoding:
        is_link = (classes == NNW) & (rows < columns)
        is_corner = (classes >= FIRST_THW) & (rows >= columns)
        if not is_corner.any():
            return Decoding(())
        links = _Links(rows[is_link], columns[is_link], log_probability[is_link], length)
        tails, heads = rows[is_corner], columns[is_corner]
        paths = _best_paths(links, heads, tails, log_probability[is_corner], self.max_mentions)
        corners = classes[is_corner]
        mentions = tuple(
            ScoredMention(Mention(words, self.labels[corners[corner] - FIRST_THW]), math.exp(score))
            for score, corner, words in paths.found
        )
        return Decoding(mentions, paths.complete)


def _best_classes(scores: Scores) -> Integers:
    """`scores.argmax(axis=-1)`, class by class: numpy is slow along a short last axis."""
    best = scores[..., 0].copy()
    classes = np.zeros(best.shape, dtype=np.int64)
    for number in range(1, scores.shape[-1]):
        own = scores[..., number]
        classes[own > best] = number
        np.maximum(best, own, out=best)
    return classes


@dataclass(frozen=True, slots=True)
class _Paths:
    found: list[tuple[float, int, tuple[int, ...]]]
    complete: bool


class _Links:
    """NNW links as successor lists, with the best log-probability from each word to each tail.

    Links come row by row, columns increasing, as `numpy.nonzero` gives them.
    """

    def __init__(self, rows: Integers, columns: Integers, weights: Floats, length: int) -> None:
        starts = np.searchsorted(rows, np.arange(length + 1))
        self._next = [columns[a:b] for a, b in pairwise(starts)]
        self._weight = [weights[a:b] for a, b in pairwise(starts)]
        self._steps: dict[tuple[int, int], _Steps] = {}
        self._tails: Integers = np.zeros(0, dtype=np.int64)
        self._best: Floats = np.zeros((0, length))
        self._to: dict[int, Floats] = {}

    def reach(self, tails: Integers) -> None:
        """Find the best log-probability of a path from each word to each of `tails`.

        Links only lead to later words, so one sweep from the last word backwards is exact; words
        that cannot reach a tail keep minus infinity, which prunes them.
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
        """Best log-probability from each head to the tail beside it; minus infinity for none."""
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
    """Rows of a table, not copied where they stand side by side. `numbers` increase."""
    first, last = int(numbers[0]), int(numbers[-1])
    return table[first : last + 1] if last - first + 1 == len(numbers) else table[numbers]


class _Steps:
    """Links from one word on to one tail, best first, sorted only as far as they are asked for."""

    def __init__(self, successors: Integers, weights: Floats, bounds: Floats) -> None:
        self._successors, self._weights, self._bounds = successors, weights, bounds
        self._ordered: list[tuple[float, int, float]] = []

    def step(self, index: int) -> tuple[float, int, float] | None:
        """(bound, next word, link weight) of the link at a place of the order; None behind it."""
        while len(self._ordered) <= index:
            # Of equals the farthest word: the shorter mention.
            best = len(self._bounds) - 1 - int(self._bounds[::-1].argmax())
            bound = float(self._bounds[best])
            if bound == -math.inf:
                return None
            self._ordered.append((bound, int(self._successors[best]), float(self._weights[best])))
            self._bounds[best] = -math.inf
        return self._ordered[index]


def _best_paths(
    links: _Links, heads: Integers, tails: Integers, weights: Floats, limit: int | None
) -> _Paths:
    """Paths from each head to its tail, best log-probability first, at most `limit` of them.

    Best-first search whose bound is exact (`_Links.best`), so paths come out in order. A state
    is a path so far and which of its possible next steps comes next; each one taken is a path
    emitted, so work grows with the paths that are emitted and not with those that exist.
    """
    links.reach(tails)
    totals = weights + links.best(heads, tails)
    reachable = np.flatnonzero(totals > -np.inf)
    complete = limit is None or len(reachable) <= limit
    if limit and not complete:
        # A corner has at least its own best path: no other corner than the best can matter.
        bar = -np.partition(-totals, limit - 1)[limit - 1]
        reachable = np.flatnonzero(totals >= bar)
    reachable = reachable[np.argsort(-totals[reachable], kind="stable")]
    # state: (-bound, tie-break, corner, words so far, log-probability, index of the next step)
    queue: list[tuple[float, int, int, tuple[int, ...], float, int]] = [
        (-float(totals[c]), n, int(c), (int(heads[c]),), float(weights[c]), 0)
        for n, c in enumerate(reachable[:limit])
    ]
    ticket = 0
    found: list[tuple[float, int, tuple[int, ...]]] = []
    while queue:
        if limit is not None and len(found) >= limit:
            return _Paths(found, complete=False)
        _, _, corner, words, total, index = heapq.heappop(queue)
        tail = int(tails[corner])
        # Nothing waiting is better than the best way on from here: take it to its end.
        while words[-1] != tail:
            steps = links.steps(words[-1], tail)
            taken, following = steps.step(index), steps.step(index + 1)
            assert taken is not None  # a word on the way to a tail has a link that leads there
            if following is not None:
                # Of equals the last comes first: what branches off late is soon at its end.
                ticket -= 1
                later = -(total + following[0])
                heapq.heappush(queue, (later, ticket, corner, words, total, index + 1))
            words, total, index = (*words, taken[1]), total + taken[2], 0
        found.append((total, corner, words))
    return _Paths(found, complete)
