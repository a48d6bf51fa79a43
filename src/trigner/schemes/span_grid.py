"""Segments and the gaps between them as tags of spans, mentions as paths (Mao et al., 2024).

A simple but effective span-level tagging method for discontinuous named entity recognition. A
mention of the type `t` with the segments `s1, ..., sm` (runs of neighbouring words) has these tags,
in cells (first word, last word) that may hold other tags as well:

    BE-t            its only segment
    BI-t, IE-t      the first and the last of several segments
    II-t            each segment between them
    II-N-t          each gap: the words between two of its segments that follow each other

The first letter says whether a segment is the first (B), the second whether it is the last (E).
Decoding reads every BE, and every path BI, II-N, II, II-N, ..., IE of spans of which each begins
behind the end of the one before.

Ours: the search best first with its bound, and the score of a mention.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from trigner.arrays import Floats, Integers, Logits, Tags
from trigner.mentions import Mention, ScoredMention
from trigner.schemes.paths import Links, best_paths
from trigner.schemes.scheme import (
    Cell,
    Decoding,
    Encoding,
    TagGroup,
    TagSpace,
    best_of,
    grid_tags,
    tagged_spans,
)

SEGMENTS = ("BE", "BI", "II", "IE")
"""Kinds of segments; a type's tags stand in this order."""

GAP = "II-N"

FIRST, INSIDE, AFTER, DONE = range(4)
"""Places that a path is at: before the first segment, before another, behind one that is not the
last, behind the last."""

STEPS = {"BE": (FIRST, DONE), "BI": (FIRST, AFTER), "II": (INSIDE, AFTER), "IE": (INSIDE, DONE)}
"""From which place to which a segment of each kind leads."""


@dataclass(frozen=True, slots=True)
class SpanGrid:
    """Multi-label grid of the tags of segments and gaps of each type, on and above the diagonal.

    A mention's score is the product of the probabilities of its tags. `max_mentions` bounds what
    one sentence decodes to; the best are kept, and `Decoding.complete` is False.

    Every mention comes back. What else does: mentions of one type whose segments end with the same
    word exchange what follows it.
    """

    labels: tuple[str, ...]
    max_mentions: int = 1000
    name: str = field(default="span_grid", init=False)
    tag_space: TagSpace = field(default=TagSpace.MULTI_LABEL_GRID, init=False)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of segments of each label, then those of gaps of each label."""
        segments = (f"{kind}-{label}" for label in self.labels for kind in SEGMENTS)
        return (*segments, *(f"{GAP}-{label}" for label in self.labels))

    @property
    def groups(self) -> tuple[TagGroup, ...]:
        """Segments and gaps."""
        gaps = len(SEGMENTS) * len(self.labels)
        return (
            TagGroup("segments", 0, gaps, triangle="upper"),
            TagGroup("gaps", gaps, gaps + len(self.labels), triangle="upper"),
        )

    def encode(self, mentions: Sequence[Mention], length: int) -> Encoding:
        """Tags `[L, L, C]` of 0 and 1."""
        return Encoding(grid_tags(self, mentions, length, self._cells))

    def decode(self, scores: Logits) -> Decoding:
        """Mentions from scores `[L, L, C]`."""
        found: list[ScoredMention] = []
        complete = True
        for number, label in enumerate(self.labels):
            own, whole = self._paths(scores, number)
            found += (ScoredMention(Mention(w, label), math.exp(weight)) for weight, w in own)
            complete &= whole
        return best_of(found, self.max_mentions, complete=complete)

    def decode_tags(self, tags: Tags) -> Decoding:
        """Mentions from tags `[L, L, C]`, each with score 1."""
        return self.decode(np.where(tags > 0, np.inf, -np.inf))

    def _cells(self, mention: Mention) -> Iterator[Cell]:
        """The cells of a mention's tags."""
        number = self.labels.index(mention.label)
        segments = mention.segments
        for place, span in enumerate(segments):
            kind = ("I" if place else "B") + ("E" if place == len(segments) - 1 else "I")
            yield (*span, len(SEGMENTS) * number + SEGMENTS.index(kind))
        for (_, before), (after, _) in pairwise(segments):
            yield before + 1, after - 1, len(SEGMENTS) * len(self.labels) + number

    def _paths(
        self, scores: Logits, number: int
    ) -> tuple[list[tuple[float, tuple[int, ...]]], bool]:
        """The mentions of a label, best log-probability first, and whether these are all.

        Place `p` at the word `w` is the node `4 w + p + 1`; node 0 leads to all first places, all
        last ones to the node behind them all, so that a single best-first search finds everything.
        """
        length = len(scores)
        end = 4 * length + 1
        links: list[tuple[Integers, Integers, Floats]] = []
        for at, kind in enumerate(SEGMENTS):
            first, last, weights = tagged_spans(scores[:, :, len(SEGMENTS) * number + at])
            before, behind = STEPS[kind]
            links.append((4 * first + before + 1, 4 * last + behind + 1, weights))
        starts = np.unique(np.concatenate([rows for rows, *_ in links]))
        ends = np.unique(np.concatenate([columns for _, columns, _ in links]))
        starts, ends = starts[starts % 4 == FIRST + 1], ends[ends % 4 == (DONE + 1) % 4]
        if not len(starts) or not len(ends):
            return [], True
        links.append((np.zeros_like(starts), starts, np.zeros(len(starts))))
        links.append((ends, np.full_like(ends, end), np.zeros(len(ends))))
        inner, gap = slice(1, length - 1), len(SEGMENTS) * len(self.labels) + number
        first, last, weights = tagged_spans(scores[inner, inner, gap])
        # Counted from the second word: a gap that begins with it lies behind the first.
        links.append((4 * first + AFTER + 1, 4 * (last + 2) + INSIDE + 1, weights))
        graph = Links.of(links, end + 1)
        ends_of_all = np.array([0]), np.array([end]), np.zeros(1)
        paths = best_paths(graph, *ends_of_all, self.max_mentions)
        return [(weight, _words(nodes)) for weight, _, nodes in paths.found], paths.complete


def _words(nodes: tuple[int, ...]) -> tuple[int, ...]:
    """The words of the segments on a path from the first node to the last."""
    places = [(node - 1) // 4 for node in nodes[1:-1]]
    return tuple(
        word
        for first, last in zip(places[::2], places[1::2], strict=True)
        for word in range(first, last + 1)
    )
