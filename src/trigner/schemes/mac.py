"""MAC's two grids: segments of mentions, and links between the segments of one mention.

Wang et al., Discontinuous Named Entity Recognition as Maximal Clique Discovery, ACL 2021. A mention
of the type `t` with the segments `s1, ..., sm` (runs of neighbouring words, first and last word
inclusive) has these tags, in cells that may hold other tags as well:

    S-t             (first, last) of a mention that is one segment
    B-t, I-t        (first, last) of the first and of each further segment of several
    H2H-t, T2T-t    (first, first) and (last, last) of two segments, in both orders

and in the full version, which is that of the released code, also

    BOUND-t         (first word, last word) of the whole mention
    H2T-t, T2H-t    (first, last) and (last, first) of two segments, in both orders

Decoding builds a graph for each type: a node where B, I or S is set, an edge between two nodes that
all links join in one order or the other, unless one contains the other. Mentions are its maximal
cliques within each BOUND that touch both of its ends, or in the minimal version all maximal
cliques. Of nodes that overlap within a clique the later one is skipped.

Ours: the bounds on the search, and the score of a mention.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, combinations, pairwise, permutations

import numpy as np

from trigner.arrays import Logits, Tags
from trigner.mentions import Mention, ScoredMention
from trigner.schemes import segment_graph
from trigner.schemes.cliques import Effort
from trigner.schemes.scheme import (
    Cell,
    Decoding,
    Encoding,
    TagGroup,
    TagSpace,
    best_of,
    grid_tags,
    log_probability,
)
from trigner.schemes.segment_graph import Bounds, Clique, Cliques, LinkScores, Span

NODES = ("S", "B", "I")
"""Tags of a segment that is a node; decoding does not distinguish them."""


@dataclass(frozen=True, slots=True)
class Mac:
    """Multi-label grid of segment and link tags of each type; `full` or minimal version.

    A mention's score is the product of these probabilities: of each node the most probable of B, I
    and S, each link of each edge (in the more probable of the two orders in which all are set),
    and its BOUND.

    Decoding is bounded: for each type the `max_nodes` most probable nodes that links can join are
    used, and the search for cliques visits at most `max_effort` nodes, shared evenly by the types,
    the most probable BOUND first; the `max_mentions` best of a sentence are kept. Below the bounds
    it is complete; a bound that is hit is reported by `Decoding.complete`.

    `Encoding.lost` are the mentions that do not come back from the tags: their segments become part
    of a larger clique by the links of other mentions. In the full version this takes segments
    between the same first and last word.
    """

    labels: tuple[str, ...]
    full: bool = True
    max_mentions: int = 1000
    max_nodes: int = 100
    max_effort: int = 50_000
    tag_space: TagSpace = field(default=TagSpace.MULTI_LABEL_GRID, init=False)

    @property
    def name(self) -> str:
        """`mac`, or `mac_minimal`."""
        return "mac" if self.full else "mac_minimal"

    @property
    def segment_kinds(self) -> tuple[str, ...]:
        """Tags of a segment."""
        return ("S", "B", "I", "BOUND") if self.full else ("S", "B", "I")

    @property
    def link_kinds(self) -> tuple[str, ...]:
        """Tags of two segments."""
        return ("H2H", "T2T", "H2T", "T2H") if self.full else ("H2H", "T2T")

    @property
    def tags(self) -> tuple[str, ...]:
        """All segment tags of each label, then all link tags of each label."""
        kinds = (self.segment_kinds, self.link_kinds)
        return tuple(f"{kind}-{label}" for own in kinds for label in self.labels for kind in own)

    @property
    def groups(self) -> tuple[TagGroup, ...]:
        """Segments and links: MAC's two taggers."""
        segments = len(self.segment_kinds) * len(self.labels)
        return (
            TagGroup("segments", 0, segments, triangle="upper"),
            TagGroup("links", segments, segments + len(self.link_kinds) * len(self.labels)),
        )

    def encode(self, mentions: Sequence[Mention], length: int) -> Encoding:
        """Tags `[L, L, C]` of 0 and 1."""
        tags = grid_tags(self, mentions, length, self._cells)
        plain = not any(mention.is_discontinuous for mention in mentions)
        if plain and len(mentions) <= self.max_mentions:
            return Encoding(tags)  # nothing joins them: each comes back
        close = _close_together(mentions)
        own = grid_tags(self, close, max(m.words[-1] for m in close) + 1, self._cells)
        back = {scored.mention for scored in self.decode_tags(own).mentions}
        pairs = zip(mentions, close, strict=True)
        return Encoding(tags, tuple(mention for mention, there in pairs if there not in back))

    def decode(self, scores: Logits) -> Decoding:
        """Mentions from scores `[L, L, C]`."""
        found: list[ScoredMention] = []
        complete = True
        for label, own in self._by_label(scores):
            complete &= own.complete
            found += (
                ScoredMention(Mention(words, label), math.exp(clique.weight))
                for words, clique in own.by_words.items()
            )
        return best_of(found, self.max_mentions, complete=complete)

    def decode_tags(self, tags: Tags) -> Decoding:
        """Mentions from tags `[L, L, C]`, each with score 1."""
        return self.decode(np.where(tags > 0, np.inf, -np.inf))

    def evidence(self, mentions: Sequence[Mention], scores: Logits) -> list[tuple[Cell, ...]]:
        """As `Explaining.evidence`."""
        found = dict(self._by_label(scores))
        return [
            self._evidence_of(found[m.label].by_words[m.words], m.label, scores) for m in mentions
        ]

    def _evidence_of(self, clique: Clique, label: str, scores: Logits) -> tuple[Cell, ...]:
        tag = self._tag_indices(self.labels.index(label))
        cells = [
            (a, b, max((tag[k] for k in NODES), key=lambda t: scores[a, b, t]))
            for a, b in clique.segments
        ]
        for one, other in combinations(clique.segments, 2):
            orders = (self._links(one, other, tag), self._links(other, one, tag))
            cells += max(orders, key=lambda order: _weight([scores[cell] for cell in order]))
        return (*cells, *(() if clique.around is None else ((*clique.around, tag["BOUND"]),)))

    def _by_label(self, scores: Logits) -> Iterator[tuple[str, Cliques]]:
        """The cliques of each label; effort that one search leaves is shared by the next."""
        left = self.max_effort
        for number, label in enumerate(self.labels):
            effort = Effort(left // (len(self.labels) - number))
            left -= effort.left
            yield label, self._found(scores, number, effort)
            left += effort.left

    def _found(self, scores: Logits, number: int, effort: Effort) -> Cliques:
        tag = self._tag_indices(number)
        return segment_graph.mentions(
            np.max([scores[:, :, tag[kind]] for kind in NODES], axis=0),
            LinkScores(*(scores[:, :, tag[kind]] for kind in self.link_kinds)),
            scores[:, :, tag["BOUND"]] if self.full else None,
            Bounds(self.max_mentions, self.max_nodes, effort),
        )

    def _tag_indices(self, number: int) -> dict[str, int]:
        """The index of each kind of tag of a label among the tags."""
        kinds, links = self.segment_kinds, self.link_kinds
        first = len(kinds) * number
        first_link = len(kinds) * len(self.labels) + len(links) * number
        return {
            **{kind: first + n for n, kind in enumerate(kinds)},
            **{kind: first_link + n for n, kind in enumerate(links)},
        }

    def _links(self, one: Span, other: Span, tag: dict[str, int]) -> list[Cell]:
        """The cells of all links from one segment to another."""
        ends = {"H": 0, "T": 1}
        return [(one[ends[k[0]]], other[ends[k[2]]], tag[k]) for k in self.link_kinds]

    def _cells(self, mention: Mention) -> Iterator[Cell]:
        """The cells of a mention's tags."""
        tag = self._tag_indices(self.labels.index(mention.label))
        segments = mention.segments
        for number, span in enumerate(segments):
            kind = "S" if len(segments) == 1 else "I" if number else "B"
            yield (*span, tag[kind])
        for one, other in permutations(segments, 2):
            yield from self._links(one, other, tag)
        if self.full:
            yield mention.words[0], mention.words[-1], tag["BOUND"]


def _close_together(mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions of a sentence without the words that none has, of which one stays in each gap.

    What decoding looks at stays: order, and which segments are one, hold or touch each other.
    """
    used = sorted({word for mention in mentions for word in mention.words})
    gaps = accumulate(int(b > a + 1) for a, b in pairwise(used))
    places = {word: n + gap for n, (word, gap) in enumerate(zip(used, (0, *gaps), strict=True))}
    return [Mention(tuple(places[word] for word in m.words), m.label) for m in mentions]


def _weight(logits: Sequence[float]) -> float:
    """Log-probability of links that must all be set."""
    if min(logits) <= 0:
        return -math.inf
    return float(log_probability(np.array(logits)).sum())
