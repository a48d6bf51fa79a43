"""Fragments and gaps as tags of spans, entities as tags of their ends, mentions as paths.

After Yang et al., GapDNER: a gap-aware grid tagging model for discontinuous named entity
recognition, IJCNN 2025, of which the abstract could be read. A mention of the type `t` with the
segments `s1, ..., sm` (runs of neighbouring words) has these tags, in cells that may hold others:

    Frag      (first word, last word) of each segment
    Gap       (first word, last word) of the words between two segments that follow each other
    ConE-t    (last word, first word), if it has one segment
    DiscE-t   (last word, first word), if it has several

Fragments and gaps stand on and above the diagonal, entities on and below it. Decoding reads every
ConE whose words are a Frag, and for every DiscE the paths Frag, Gap, ..., Frag from its first word
to its last, of spans of which each begins behind the end of the one before.

Ours: where entities stand, the search best first with its bound, and the score of a mention.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from trigner.arrays import Logits, Tags
from trigner.mentions import Mention, ScoredMention
from trigner.schemes.paths import Links, best_paths
from trigner.schemes.scheme import (
    Cell,
    Decoding,
    Encoding,
    TagGroup,
    TagSpace,
    grid_tags,
    log_probability,
    tagged_spans,
)
from trigner.schemes.span_grid import AFTER, DONE, FIRST, INSIDE

FRAG, GAP, FIRST_ENTITY = 0, 1, 2

ENTITIES = ("ConE", "DiscE")
"""Kinds of entities; a type's tags stand in this order."""


@dataclass(frozen=True, slots=True)
class GapGrid:
    """Multi-label grid of fragments and gaps, which all types share, and of each type's entities.

    A mention's score is the product of the probabilities of its tags. `max_mentions` bounds what
    one sentence decodes to; the best are kept, and `Decoding.complete` is False.

    Every mention comes back. What else does: other paths between the ends of a discontinuous one.
    """

    labels: tuple[str, ...]
    max_mentions: int = 1000
    name: str = field(default="gap_grid", init=False)
    tag_space: TagSpace = field(default=TagSpace.MULTI_LABEL_GRID, init=False)

    @property
    def tags(self) -> tuple[str, ...]:
        """Frag, Gap, then the tags of entities of each label."""
        return ("Frag", "Gap", *(f"{kind}-{label}" for label in self.labels for kind in ENTITIES))

    @property
    def groups(self) -> tuple[TagGroup, ...]:
        """Spans and entities."""
        return (
            TagGroup("spans", FRAG, FIRST_ENTITY, triangle="upper"),
            TagGroup("entities", FIRST_ENTITY, len(self.tags), triangle="lower"),
        )

    def encode(self, mentions: Sequence[Mention], length: int) -> Encoding:
        """Tags `[L, L, C]` of 0 and 1."""
        return Encoding(grid_tags(self, mentions, length, self._cells))

    def decode(self, scores: Logits) -> Decoding:
        """Mentions from scores `[L, L, C]`."""
        last, first, tag = np.nonzero(scores[:, :, FIRST_ENTITY:] > 0)
        lower = first <= last
        last, first, tag = last[lower], first[lower], tag[lower]
        weights = log_probability(scores[last, first, FIRST_ENTITY + tag])
        several = tag % len(ENTITIES) == 1
        paths = best_paths(
            _links(scores),
            4 * first[several] + FIRST,
            4 * last[several] + DONE,
            weights[several],
            self.max_mentions,
        )
        of_paths = tag[several]
        found = [(weight, _words(nodes), of_paths[n]) for weight, n, nodes in paths.found]
        for n in np.flatnonzero(~several & (scores[first, last, FRAG] > 0)):
            weight = weights[n] + log_probability(scores[first[n], last[n], FRAG])
            found.append((float(weight), tuple(range(first[n], last[n] + 1)), tag[n]))
        found.sort(key=lambda entity: -entity[0])
        mentions = tuple(
            ScoredMention(Mention(words, self.labels[own // len(ENTITIES)]), math.exp(weight))
            for weight, words, own in found[: self.max_mentions]
        )
        return Decoding(mentions, paths.complete and len(found) <= self.max_mentions)

    def decode_tags(self, tags: Tags) -> Decoding:
        """Mentions from tags `[L, L, C]`, each with score 1."""
        return self.decode(np.where(tags > 0, np.inf, -np.inf))

    def _cells(self, mention: Mention) -> Iterator[Cell]:
        """The cells of a mention's tags."""
        segments = mention.segments
        for span in segments:
            yield (*span, FRAG)
        for (_, before), (after, _) in pairwise(segments):
            yield before + 1, after - 1, GAP
        kind = len(ENTITIES) * self.labels.index(mention.label) + (len(segments) > 1)
        yield mention.words[-1], mention.words[0], FIRST_ENTITY + kind


def _links(scores: Logits) -> Links:
    """Fragments and gaps as links between places: place `p` at the word `w` is the node `4 w + p`.

    A first fragment leads behind one that is not the last, so no path has a single fragment.
    """
    length = len(scores)
    first, last, weights = tagged_spans(scores[:, :, FRAG])
    steps = [
        (4 * first + before, 4 * last + behind, weights)
        for before, behind in ((FIRST, AFTER), (INSIDE, AFTER), (INSIDE, DONE))
    ]
    first, last, weights = tagged_spans(scores[1 : length - 1, 1 : length - 1, GAP])
    # Counted from the second word: a gap that begins with it lies behind the first.
    steps.append((4 * first + AFTER, 4 * (last + 2) + INSIDE, weights))
    return Links.of(steps, 4 * length)


def _words(nodes: Sequence[int]) -> tuple[int, ...]:
    """The words of the fragments on a path."""
    words = [node // 4 for node in nodes]
    ends = zip(words[::2], words[1::2], strict=True)
    return tuple(word for first, last in ends for word in range(first, last + 1))
