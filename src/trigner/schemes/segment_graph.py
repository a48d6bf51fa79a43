"""The graph of one type's segments, and the mentions that its maximal cliques stand for (MAC).

Nodes are spans of words, edges join spans of one mention. See `schemes.mac` for the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from trigner.arrays import Booleans, Floats, Integers, Logits
from trigner.schemes.cliques import Effort, maximal_cliques, members, sets_of
from trigner.schemes.scheme import Words, log_probability, tagged_spans

Span = tuple[int, int]
"""First and last word, both inclusive."""


@dataclass(frozen=True, slots=True)
class Clique:
    """What a mention is decoded from: segments that do not overlap, in order, and the span around
    them.

    `weight` is the log-probability of all of it. `around` is None where mentions need none.
    """

    weight: float
    segments: tuple[Span, ...]
    around: Span | None = None

    @property
    def words(self) -> Words:
        """The words of the segments."""
        return tuple(word for a, b in self.segments for word in range(a, b + 1))


@dataclass(frozen=True, slots=True)
class Cliques:
    """The best clique for each mention's words; `complete` unless a bound was hit."""

    by_words: dict[Words, Clique]
    complete: bool


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of mentions of one segment, of nodes with links, and of nodes that a search visits."""

    mentions: int
    nodes: int
    effort: Effort


@dataclass(frozen=True, slots=True)
class LinkScores:
    """Logits of the links of one type, `[L, L]` each; start to end only in the full version."""

    starts: Logits
    ends: Logits
    start_to_end: Logits | None = None
    end_to_start: Logits | None = None

    def between(self, starts: Integers, ends: Integers) -> list[Logits]:
        """Logits `[N, N]` of each kind of link from each of N spans to each."""
        kinds = [(self.starts, starts, starts), (self.ends, ends, ends)]
        if self.start_to_end is not None and self.end_to_start is not None:
            kinds += [(self.start_to_end, starts, ends), (self.end_to_start, ends, starts)]
        return [logits[one[:, None], other] for logits, one, other in kinds]

    def reachable(self) -> tuple[Booleans, Booleans]:
        """Which words have a link as a start, and as an end, of a segment, `[L]` each."""
        return _on_either_axis(self.starts > 0), _on_either_axis(self.ends > 0)


def _on_either_axis(cells: Booleans) -> Booleans:
    words: Booleans = np.logical_or(cells.any(axis=0), cells.any(axis=1))
    return words


def mentions(segments: Logits, links: LinkScores, around: Logits | None, bounds: Bounds) -> Cliques:
    """Mentions of one type from logits `[L, L]` of segments, links, and spans of whole mentions.

    Without `around` every maximal clique is a mention; with it only those within such a span that
    touch both of its ends. Where a bound is hit the most probable spans and segments are used.
    """
    spans = tagged_spans(segments)
    graph = _graph(spans, links, bounds.nodes)
    complete = graph.complete
    found: dict[Words, Clique] = {}
    alone = _alone(spans, graph.isolated, around)
    if len(alone[0]) > bounds.mentions:
        complete = False
        alone = _best(alone, bounds.mentions)
    for row, column, weight in zip(*(values.tolist() for values in alone), strict=True):
        span = (row, column)
        _keep(found, Clique(weight, (span,), None if around is None else span))
    several = graph.cliques(None if around is None else tagged_spans(around), bounds.effort)
    for clique in several:
        _keep(found, clique)
    return Cliques(found, complete and not bounds.effort.spent)


Spans = tuple[Integers, Integers, Floats]
"""Rows, columns and log-probabilities of spans, `[N]` each."""


def _best(spans: Spans, count: int) -> Spans:
    chosen = np.argpartition(-spans[2], count - 1)[:count]
    chosen.sort()
    return spans[0][chosen], spans[1][chosen], spans[2][chosen]


def _keep(found: dict[Words, Clique], clique: Clique) -> None:
    words = clique.words
    if words not in found or found[words].weight < clique.weight:
        found[words] = clique


def _alone(spans: Spans, isolated: Booleans, around: Logits | None) -> Spans:
    """Segments that are mentions by themselves: those in `around`, or those without edges."""
    rows, columns, weights = spans
    if around is None:
        return rows[isolated], columns[isolated], weights[isolated]
    logits = around[rows, columns]
    whole = logits > 0
    return rows[whole], columns[whole], weights[whole] + log_probability(logits[whole])


@dataclass(frozen=True, slots=True)
class Graph:
    """Spans with edges, in order, and the edges.

    `neighbours` are sets of nodes as in `schemes.cliques`, `edges [N, N]` log-probabilities.
    `isolated` says which of all spans have no edge; `complete` is False when there were too many
    nodes to use them all.
    """

    spans: Sequence[Span]
    weights: Sequence[float]
    neighbours: Sequence[int]
    edges: Floats
    isolated: Booleans
    complete: bool

    def cliques(self, around: Spans | None, effort: Effort) -> Iterator[Clique]:
        """Maximal cliques of at least two nodes: all, or those that touch both ends of a span
        within it, the most probable span first."""
        everything = (1 << len(self.spans)) - 1
        if around is None:
            for clique in self._maximal(everything, everything, effort):
                yield self._segments(clique)
            return
        first, last = self._by_word(0), self._by_word(1)
        rows, columns, weights = around
        possible = np.flatnonzero(np.isin(rows, list(first)) & np.isin(columns, list(last)))
        for index in possible[np.argsort(-weights[possible], kind="stable")].tolist():
            span = (int(rows[index]), int(columns[index]))
            inside = sum(nodes for word, nodes in first.items() if word >= span[0])
            inside &= sum(nodes for word, nodes in last.items() if word <= span[1])
            for clique in self._maximal(inside, first[span[0]], effort):
                if clique & last[span[1]]:
                    yield self._segments(clique, span, float(weights[index]))
            if effort.spent:
                return

    def _maximal(self, among: int, through: int, effort: Effort) -> Iterator[int]:
        found = maximal_cliques(self.neighbours, among=among, through=through, effort=effort)
        return (clique for clique in found if clique.bit_count() > 1)

    def _by_word(self, side: int) -> dict[int, int]:
        """The set of nodes that start (`side` 0) or end (1) with each word."""
        found: dict[int, int] = {}
        for number, span in enumerate(self.spans):
            found[span[side]] = found.get(span[side], 0) | 1 << number
        return found

    def _segments(self, clique: int, around: Span | None = None, weight: float = 0.0) -> Clique:
        """The clique without nodes that overlap one before them."""
        chosen: list[int] = []
        for node in members(clique):
            if not chosen or self.spans[node][0] > self.spans[chosen[-1]][1]:
                chosen.append(node)
        weight += sum(self.weights[node] for node in chosen)
        weight += sum(float(self.edges[pair]) for pair in combinations(chosen, 2))
        return Clique(weight, tuple(self.spans[node] for node in chosen), around)


def _graph(spans: Spans, links: LinkScores, most: int) -> Graph:
    """The graph of the `most` probable of the spans that have links."""
    rows, columns, weights = spans
    starts, ends = links.reachable()
    linked = starts[rows] & ends[columns]
    isolated = ~linked
    (nodes,) = np.nonzero(linked)
    complete = len(nodes) <= most
    if not complete:
        nodes = nodes[np.argpartition(-weights[nodes], most - 1)[:most]]
        nodes.sort()
    first, last = rows[nodes], columns[nodes]
    logits = links.between(first, last)
    joined = np.all([kind > 0 for kind in logits], axis=0)
    # One span that holds the other, itself included.
    holds = (first[:, None] <= first) & (last[:, None] >= last)
    joined &= ~(holds | holds.T)
    edges = np.where(joined, sum(map(log_probability, logits)), -np.inf)
    edges, joined = np.maximum(edges, edges.T), joined | joined.T
    lonely = ~joined.any(axis=1)
    isolated[nodes[lonely]] = True
    connected = ~lonely
    return Graph(
        spans=list(zip(first[connected].tolist(), last[connected].tolist(), strict=True)),
        weights=weights[nodes[connected]].tolist(),
        neighbours=sets_of(joined[connected][:, connected]),
        edges=edges[connected][:, connected],
        isolated=isolated,
        complete=complete,
    )
