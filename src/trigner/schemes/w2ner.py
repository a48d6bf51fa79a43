"""W2NER's word-word relations: next-neighbouring words and typed tail-head words.

Li et al., Unified Named Entity Recognition as Word-Word Relation Classification, AAAI 2022.
A mention with the words `w1 < ... < wk` becomes the links `(w1, w2), ..., (wk-1, wk)` above the
diagonal (NNW, next-neighbouring word) and the cell `(wk, w1)` on or below it (THW, tail-head word),
whose class is the mention's type. Decoding reads every increasing path of links from a head to a
tail that some THW cell licenses.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from trigner.mentions import Mention, ScoredMention
from trigner.schemes.scheme import Decoding, Encoding, Scores, Tags, TagSpace

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
    max_mentions: int | None = 2000
    name: str = field(default="w2ner", init=False)
    tag_space: TagSpace = field(default=TagSpace.EXCLUSIVE_GRID, init=False)

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
        classes = scores.argmax(axis=-1)
        rows, columns = np.nonzero(classes)
        cells = scores[rows, columns].astype(np.float64)
        top = cells.max(axis=-1, keepdims=True)
        log_probability = -np.log(np.exp(cells - top).sum(axis=-1))
        return self._decode_cells(
            rows, columns, classes[rows, columns], log_probability, len(classes)
        )

    def decode_tags(self, tags: Tags) -> Decoding:
        """Mentions from tags `[L, L]`, each with score 1."""
        rows, columns = np.nonzero(tags)
        return self._decode_cells(
            rows, columns, tags[rows, columns], np.zeros(len(rows)), len(tags)
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
        corner_labels = [self.labels[c - FIRST_THW] for c in classes[is_corner]]
        mentions = tuple(
            ScoredMention(Mention(words, corner_labels[corner]), float(np.exp(score)))
            for score, corner, words in paths.found
        )
        return Decoding(mentions, paths.complete)


@dataclass(frozen=True, slots=True)
class _Paths:
    found: list[tuple[float, int, tuple[int, ...]]]
    complete: bool


class _Links:
    """NNW links as successor lists, with the best log-probability from each word to each tail."""

    def __init__(self, rows: Integers, columns: Integers, weights: Floats, length: int) -> None:
        order = np.lexsort((columns, rows))
        starts = np.searchsorted(rows[order], np.arange(length + 1))
        self._next = [columns[order[a:b]] for a, b in pairwise(starts)]
        self._weight = [weights[order[a:b]] for a, b in pairwise(starts)]
        self._ordered: dict[tuple[int, int], list[tuple[float, int, float]]] = {}
        self._column: dict[int, int] = {}
        self.best: Floats = np.zeros((length, 0))

    def reach(self, tails: Integers) -> None:
        """Fill `best[word, k]`: the best log-probability of a path from `word` to `tails[k]`.

        Links only lead to later words, so one sweep from the last word backwards is exact; words
        that cannot reach a tail keep minus infinity, which prunes them.
        """
        unique = np.unique(tails)
        self._column = {int(tail): k for k, tail in enumerate(unique)}
        self.best = np.full((len(self._next), len(unique)), -np.inf)
        self.best[unique, np.arange(len(unique))] = 0.0
        for word in range(len(self._next) - 1, -1, -1):
            if len(self._next[word]):
                through = self._weight[word][:, None] + self.best[self._next[word]]
                np.maximum(self.best[word], through.max(axis=0), out=self.best[word])

    def column(self, tail: int) -> int:
        return self._column[tail]

    def steps(self, word: int, tail: int) -> list[tuple[float, int, float]]:
        """(bound, next word, link weight) of the links that lead on to `tail`, best first."""
        key = (word, tail)
        if key not in self._ordered:
            successors, weights = self._next[word], self._weight[word]
            bounds = weights + self.best[successors, self._column[tail]]
            self._ordered[key] = [
                (float(bounds[i]), int(successors[i]), float(weights[i]))
                for i in np.argsort(-bounds, kind="stable")
                if bounds[i] > -np.inf
            ]
        return self._ordered[key]


def _best_paths(
    links: _Links, heads: Integers, tails: Integers, weights: Floats, limit: int | None
) -> _Paths:
    """Paths from each head to its tail, best log-probability first, at most `limit` of them.

    Best-first search whose bound is exact (`_Links.best`), so paths come out in order. A state
    is a path so far and which of its possible next steps comes next; taking it adds at most two
    states, so work grows with the paths that are emitted and not with those that exist.
    """
    links.reach(tails)
    totals = weights + links.best[heads, [links.column(int(t)) for t in tails]]
    order = np.argsort(-totals, kind="stable")
    reachable = order[totals[order] > -np.inf]
    complete = limit is None or len(reachable) <= limit
    # state: (-bound, tie-break, corner, words so far, log-probability, index of the next step)
    queue: list[tuple[float, int, int, tuple[int, ...], float, int]] = [
        (-float(totals[c]), n, int(c), (int(heads[c]),), float(weights[c]), 0)
        for n, c in enumerate(reachable[:limit])
    ]
    ticket = len(queue)
    found: list[tuple[float, int, tuple[int, ...]]] = []
    while queue:
        if limit is not None and len(found) >= limit:
            return _Paths(found, complete=False)
        bound, _, corner, words, total, index = heapq.heappop(queue)
        tail = int(tails[corner])
        if words[-1] == tail:
            found.append((total, corner, words))
            continue
        steps = links.steps(words[-1], tail)
        _, word, weight = steps[index]
        heapq.heappush(queue, (bound, ticket, corner, (*words, word), total + weight, 0))
        if index + 1 < len(steps):
            later = -(total + steps[index + 1][0])
            heapq.heappush(queue, (later, ticket + 1, corner, words, total, index + 1))
        ticket += 2
    return _Paths(found, complete)
