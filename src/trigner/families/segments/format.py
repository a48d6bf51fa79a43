"""Mentions <-> segments and combinations of them (Wang and Lu, Combining Spans into Entities,
EMNLP 2019).

A *segment* is a run of neighbouring words of a mention, first and last word inclusive. A
*combination* is one, two or more segments of one type in order, with at least one word between
neighbours: a candidate, which is a mention or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from trigner.arrays import Booleans, Floats, Integers
from trigner.mentions import Mention
from trigner.schemes import check

Span = tuple[int, int]
"""First and last word, both inclusive."""


@dataclass(frozen=True, slots=True, eq=False)
class Combinations:
    """The candidates of one type, of which `label` is the index, from `N` segments in order.

    `spans [N, 2]`; for each number of segments `k` the candidates as indices of segments,
    `groups[k - 1] [M, k]`, and which of them are mentions, `wanted[k - 1] [M]`.
    """

    label: int
    spans: Integers
    groups: tuple[Integers, ...]
    wanted: tuple[Booleans, ...]
    complete: bool

    def mentions(self, label: str) -> list[Mention]:
        """The candidates that are mentions."""
        chosen = [row for g, w in zip(self.groups, self.wanted, strict=True) for row in g[w]]
        return [Mention(words_of(self.spans[row]), label) for row in chosen]


@dataclass(frozen=True, slots=True)
class SegmentFormat:
    """Segments of at most `max_width` words, and which combinations of them are candidates.

    A candidate has `max_segments` at most. Two segments have from 1 to `pair_gap` words between
    them; of three or more, each two neighbours from 1 to `chain_gap` (the released code: 16 and 2).
    Candidates are bounded: of each type and number of segments there are the `max_candidates` with
    the largest sum of weights. `max_mentions` are the most of a sentence.
    """

    labels: tuple[str, ...]
    max_width: int = 12
    max_segments: int = 3
    pair_gap: int = 32
    chain_gap: int = 16
    max_candidates: int = 1000
    max_mentions: int = 1000

    def segments(self, mentions: Iterable[Mention]) -> list[Mention]:
        """The different segments of mentions that are not too wide, each as a mention."""
        found = {(span, m.label) for m in mentions for span in m.segments if self._fits(span)}
        return [Mention(tuple(range(a, b + 1)), label) for (a, b), label in sorted(found)]

    def candidates(self, spans: Integers, weights: Floats) -> tuple[tuple[Integers, ...], bool]:
        """Combinations of `spans [N, 2]`, which are in order, and whether these are all.

        For each number of segments `k` from 1 on indices of spans `[M, k]`. Where there are more
        than `max_candidates`, those with the largest sum of `weights [N]`, which are at most 0.
        """
        between = spans[None, :, 0] - spans[:, None, 1] - 1
        complete = True

        def best(chosen: Integers) -> Integers:
            nonlocal complete
            if len(chosen) <= self.max_candidates:
                return chosen
            complete = False
            order = np.argsort(-weights[chosen].sum(axis=1), kind="stable")
            return chosen[np.sort(order[: self.max_candidates])]

        def extended(chosen: Integers, most: int) -> Integers:
            near = (between >= 1) & (between <= most)
            rows, added = np.nonzero(near[chosen[:, -1]])
            return best(np.concatenate([chosen[rows], added[:, None]], axis=1))

        alone = best(np.arange(len(spans))[:, None])
        found = [alone]
        if self.max_segments > 1:
            found.append(extended(alone, self.pair_gap))
        if self.max_segments > 2:
            chain = extended(alone, self.chain_gap)
            for _ in range(2, self.max_segments):
                found.append(chain := extended(chain, self.chain_gap))
        return tuple(found), complete

    def encode(
        self, mentions: Sequence[Mention], also: Iterable[Mention] = ()
    ) -> list[Combinations]:
        """The candidates from the segments of mentions, of each type that has some.

        `also` are further segments. Of too many candidates those of the mentions' come first.
        """
        found, more = [], list(also)
        for number, label in enumerate(self.labels):
            own = {m.segments for m in mentions if m.label == label}
            gold = {span for each in own for span in each if self._fits(span)}
            other = {span for m in more if m.label == label for span in m.segments} - gold
            if not gold and not other:
                continue
            ordered = sorted(gold | other)
            spans = np.array(ordered, dtype=np.int64).reshape(-1, 2)
            weights = -np.array([span in other for span in ordered], dtype=np.float64)
            groups, complete = self.candidates(spans, weights)
            wanted = [
                np.array([tuple(ordered[n] for n in row) in own for row in g.tolist()], dtype=bool)
                for g in groups
            ]
            found.append(Combinations(number, spans, groups, tuple(wanted), complete))
        return found

    def round_trip(self, mentions: Sequence[Mention], length: int) -> tuple[list[Mention], bool]:
        """The mentions that are candidates, and whether there are all candidates.

        Raises ValueError for a label that the format does not know or a word outside the sentence.
        """
        check(mentions, self.labels, length)
        found = self.encode(mentions)
        back = [m for own in found for m in own.mentions(self.labels[own.label])]
        return back, all(own.complete for own in found)

    def _fits(self, span: Span) -> bool:
        return span[1] - span[0] < self.max_width


def words_of(spans: Integers) -> tuple[int, ...]:
    """The words of segments `[k, 2]` in order."""
    return tuple(word for a, b in spans.tolist() for word in range(a, b + 1))


def gaps_of(spans: Integers, chosen: Integers) -> Integers:
    """Words between neighbouring segments of candidates `[M, k]`: `[M, k - 1]`."""
    gaps: Integers = spans[chosen[:, 1:], 0] - spans[chosen[:, :-1], 1] - 1
    return gaps
