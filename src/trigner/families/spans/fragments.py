"""Mentions <-> fragments and their relations (Li et al., ACL 2021).

A span-based model for joint overlapped and discontinuous named entity recognition (SODNER). A
*fragment* is a run of neighbouring words of a mention, first and last word inclusive. Two fragments
are

    Combined    parts of one mention (the article's "succession")
    Overlap     different and share a word
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations, permutations
from typing import Literal

import numpy as np

from trigner.arrays import Booleans, Floats, Integers, Logits
from trigner.mentions import Mention, ScoredMention
from trigner.schemes import (
    Decoding,
    Effort,
    best_of,
    check,
    log_probability,
    maximal_cliques,
    members,
    sets_of,
)

Span = tuple[int, int]
"""First and last word, both inclusive."""

Reading = Literal["cliques", "stars"]

MAX_WIDTH = 16
"""Words of a fragment at most, by default."""

CERTAIN = 1e3
"""Score of what is annotated."""


class Relation(IntEnum):
    """Relations of two fragments; of each but NONE, whose score is 0, there is a score."""

    NONE = 0
    COMBINED = 1
    OVERLAP = 2


@dataclass(frozen=True, slots=True, eq=False)
class Fragments:
    """The `N` fragments of a sentence, in order, and their relations.

    `spans [N, 2]`; `classes [N, C]`, those of `FragmentFormat` that each has; `relations [N, N]` of
    `Relation`, the same in both orders. `lost` are the mentions with wider fragments.
    """

    spans: Integers
    classes: Booleans
    relations: Integers
    lost: tuple[Mention, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class SpanScores:
    """Scores of `N` spans of a sentence to be fragments, and of `K` of them to be related.

    `spans [N, 2]`; `fragments [N, C]`, a span is a fragment where it is above 0; `kept [K]` are
    indices of spans; `relations [K, K, 2]`, of COMBINED and OVERLAP next to NONE, whose score is 0.
    """

    spans: Integers
    fragments: Logits
    kept: Integers
    relations: Logits


@dataclass(frozen=True, slots=True)
class FragmentFormat:
    """Mentions as fragments of at most `max_width` words and their relations.

    A mention is read from each maximal clique of fragments of one type that are Combined. With
    `reading="stars"`, as in the released code, from each fragment with all that are Combined with
    it, if each two of them have any relation.

    The classes of a fragment are the types of its mentions as one that is whole, then as a part of
    one *(ours)*: a part without others is no mention. Without `roles`, as in the article, they are
    the types alone, and a fragment without others is a mention.

    Its score is the product of the probabilities of its fragments and of their relations.

    Reading is bounded: the search for cliques visits at most `max_effort` nodes, shared by the
    types, and the `max_mentions` best of a sentence are kept. A fragment that is not among the
    `kept` spans has no relations and counts as a bound, too, unless it is whole alone.
    """

    labels: tuple[str, ...]
    max_width: int = MAX_WIDTH
    reading: Reading = "cliques"
    roles: bool = True
    max_mentions: int = 1000
    max_effort: int = 50_000

    @property
    def classes(self) -> int:
        """`C`, what a fragment can be."""
        return len(self.labels) * (2 if self.roles else 1)

    def encode(self, mentions: Sequence[Mention], length: int) -> Fragments:
        """The fragments of a sentence of `length` words.

        Raises ValueError for a label that the format does not know or a word outside the sentence.
        """
        check(mentions, self.labels, length)
        lost = [m for m in mentions if any(b - a >= self.max_width for a, b in m.segments)]
        held = [m for m in mentions if m not in lost]
        spans = sorted({span for m in held for span in m.segments})
        number = {span: n for n, span in enumerate(spans)}
        classes = np.zeros((len(spans), self.classes), dtype=np.bool_)
        relations = np.full((len(spans), len(spans)), Relation.NONE, dtype=np.int64)
        for one, other in permutations(spans, 2):
            if one[0] <= other[1] and other[0] <= one[1]:
                relations[number[one], number[other]] = Relation.OVERLAP
        for mention in held:
            own = [number[span] for span in mention.segments]
            classes[own, self._class(self.labels.index(mention.label), len(own) > 1)] = True
            for a, b in permutations(own, 2):
                relations[a, b] = Relation.COMBINED
        found = np.array(spans, dtype=np.int64).reshape(-1, 2)
        return Fragments(found, classes, relations, tuple(lost))

    def decode(self, scores: SpanScores) -> Decoding:
        """Mentions from scores, best first."""
        parts = slice(self._class(0, True), None)
        graph = _Graph.of(scores, parts)
        found: dict[Mention, float] = {}
        left, complete = self.max_effort, graph.complete
        for number, label in enumerate(self.labels):
            effort = Effort(left // (len(self.labels) - number))
            left -= effort.left
            for group, weight in self._groups(graph, number, effort):
                mention = Mention(graph.words(group), label)
                found[mention] = max(weight, found.get(mention, -math.inf))
            complete &= not effort.spent
            left += effort.left
        scored = [ScoredMention(mention, math.exp(weight)) for mention, weight in found.items()]
        return best_of(scored, self.max_mentions, complete=complete)

    def decode_fragments(self, fragments: Fragments) -> Decoding:
        """Mentions from annotated fragments, each with score 1."""
        kinds = np.array([Relation.COMBINED, Relation.OVERLAP])
        there = fragments.relations[..., None] == kinds
        return self.decode(
            SpanScores(
                fragments.spans,
                np.where(fragments.classes, CERTAIN, -CERTAIN),
                np.arange(len(fragments.spans)),
                np.where(there, CERTAIN, -CERTAIN),
            )
        )

    def round_trip(self, mentions: Sequence[Mention], length: int) -> tuple[list[Mention], bool]:
        """What comes back of mentions from their fragments, and whether decoding was complete."""
        decoding = self.decode_fragments(self.encode(mentions, length))
        return [scored.mention for scored in decoding.mentions], decoding.complete

    def _class(self, label: int, is_part: bool) -> int:
        return label + (len(self.labels) if self.roles and is_part else 0)

    def _groups(self, graph: _Graph, label: int, effort: Effort) -> Iterator[tuple[int, float]]:
        """Sets of fragments, each of which is a mention of a type, and their log-probabilities."""
        if self.roles:
            for node in members(graph.predicted(label)):
                yield 1 << node, float(graph.fragments[node, label])
        part = self._class(label, True)
        for group in self._joined(graph, graph.predicted(part), effort):
            yield group, graph.weight(group, part)

    def _joined(self, graph: _Graph, nodes: int, effort: Effort) -> Iterator[int]:
        """Sets of fragments that belong together; those of one unless there are roles."""
        if self.reading == "cliques":
            alone = sum(1 << node for node in members(nodes) if not graph.joined[node] & nodes)
            if not self.roles:
                yield from (1 << node for node in members(alone))  # first: they cost nothing
            rest = nodes & ~alone
            yield from maximal_cliques(graph.joined, among=rest, through=rest, effort=effort)
            return
        for node in members(nodes):
            star = 1 << node | graph.combined[node] & nodes
            if self.roles and star == 1 << node:
                continue
            if all(star & ~graph.related[n] == 1 << n for n in members(star)):
                yield star


@dataclass(frozen=True, slots=True, eq=False)
class _Graph:
    """The predicted fragments of a sentence as nodes.

    `fragments [N, C]` are log-probabilities, minus infinity where a class is not predicted;
    `relations [N, N]` those of the predicted relation. The rest are sets of nodes for each node, as
    in `schemes.cliques`: `joined` are those Combined without a shared word.
    """

    spans: Sequence[Span]
    fragments: Floats
    relations: Floats
    combined: Sequence[int]
    joined: Sequence[int]
    related: Sequence[int]
    complete: bool

    @classmethod
    def of(cls, scores: SpanScores, parts: slice) -> _Graph:
        """`parts` are the classes of which relations make mentions."""
        there = scores.fragments > 0
        chosen = np.flatnonzero(there.any(axis=1))
        place = np.full(len(scores.spans), -1)
        place[chosen] = np.arange(len(chosen))
        of_kept = place[scores.kept]
        own = np.flatnonzero(of_kept >= 0)
        predicted, weights = _relations(scores.relations[np.ix_(own, own)])
        relations = np.full((len(chosen), len(chosen)), Relation.NONE, dtype=np.int64)
        pairs = np.ix_(of_kept[own], of_kept[own])
        relations[pairs] = predicted
        log = np.zeros(relations.shape)
        log[pairs] = weights
        first, last = scores.spans[chosen].T
        apart = (first[:, None] > last) | (last[:, None] < first)
        np.fill_diagonal(relations, Relation.NONE)
        combined = relations == Relation.COMBINED
        return cls(
            [(int(a), int(b)) for a, b in scores.spans[chosen]],
            np.where(there, log_probability(scores.fragments), -np.inf)[chosen],
            log,
            sets_of(combined),
            sets_of(combined & apart),
            sets_of(relations != Relation.NONE),
            bool((np.isin(chosen, scores.kept) | ~there[chosen, parts].any(axis=1)).all()),
        )

    def predicted(self, number: int) -> int:
        """The fragments of a class, as a set."""
        return sum(1 << int(n) for n in np.flatnonzero(self.fragments[:, number] > -np.inf))

    def words(self, group: int) -> tuple[int, ...]:
        """The words of a set of fragments."""
        spans = (self.spans[node] for node in members(group))
        return tuple(sorted({word for a, b in spans for word in range(a, b + 1)}))

    def weight(self, group: int, number: int) -> float:
        """Log-probability of a set of fragments of a class and its relations."""
        nodes = list(members(group))
        pairs = sum(float(self.relations[pair]) for pair in combinations(nodes, 2))
        return float(self.fragments[nodes, number].sum()) + pairs


def _relations(scores: Logits) -> tuple[Integers, Floats]:
    """The predicted relation of each two of K spans and its log-probability, `[K, K]` each.

    Both orders of two spans are one relation: their scores are averaged *(ours)*.
    """
    both = (scores + scores.transpose(1, 0, 2)).astype(np.float64) / 2
    every = np.concatenate([np.zeros((*both.shape[:2], 1)), both], axis=2)
    best = every.max(axis=2)
    total = np.log(np.exp(every - best[..., None]).sum(axis=2))
    return every.argmax(axis=2), -total
