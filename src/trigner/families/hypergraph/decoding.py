"""From the scores of a sentence's edges to mentions with their probabilities. Needs no PyTorch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trigner.arrays import Booleans, Floats
from trigner.families.hypergraph.graph import FROM_B, FROM_O, Edge, Graph, Path, Step, Structure
from trigner.families.hypergraph.inside import LOG, MAX, NEVER, Semiring, children, inside
from trigner.families.hypergraph.reading import FoundPaths, Reading, Start, enough, search

Array = Floats
Mask = Booleans


@dataclass(frozen=True, eq=False)
class Chart:
    """The scores of one sentence: `starts [L, Y, F]` and `edges [G, D, Y, R, 5]`.

    As `HypergraphNetwork.forward` gives them, without padding.
    """

    graph: Graph
    starts: Array
    edges: Array

    @classmethod
    def of(cls, graph: Graph, starts: NDArray[Any], edges: NDArray[Any], length: int) -> Chart:
        """The chart of a sentence of so many words from its row of a batch's scores."""
        graphs, places = graph.size(length)
        own = edges[:graphs, :places].astype(np.float64)
        return cls(graph, starts[:length].astype(np.float64), own)

    def at(self, temperature: float) -> Chart:
        """The scores divided by a temperature."""
        return Chart(self.graph, self.starts / temperature, self.edges / temperature)

    def totals(self, semiring: Semiring) -> tuple[Array, Array, Array, Array]:
        """Of each edge its score with the value of its child; the values of B and of O.

        `[L, Y, F]` of T, `[G, D, Y, R, 5]` of the others; values `[G, D, Y, R]`.
        """
        by_place = np.ascontiguousarray(self.edges.transpose(1, 4, 0, 2, 3))
        b, o = (np.stack(values, axis=1) for values in inside(semiring, list(by_place)))
        edges = self.edges.copy()
        for edge, value in children(semiring, b[:, 1:], o[:, 1:]).items():
            edges[..., edge] += value
        b, o = b[:, :-1], o[:, :-1]
        firsts = b[:, 0] if self.graph.remembers_start else b[0]
        starts = self.starts + firsts[..., list(self.graph.first_rows)]
        return starts, edges, b, o

    def log_partition(self) -> float:
        """The logarithm of the sum over all sets of mentions."""
        return float(LOG.optional(self.totals(LOG)[0]).sum())

    def log_probabilities(self) -> tuple[Array, Array]:
        """Of each edge that a set has it, given that it has the prefix down to it."""
        starts, edges, b, o = self.totals(LOG)
        taken = LOG.optional(edges)
        result = np.empty_like(edges)
        for kinds, values in ((FROM_B, b), (FROM_O, o)):
            every = sum(taken[..., kind] for kind in kinds)
            for kind in kinds:
                # exp(total) times the subsets of the others, over all non-empty subsets.
                others = every - taken[..., kind]
                result[..., kind] = edges[..., kind] + others - values
        return -LOG.optional(-starts), np.minimum(result, 0.0)

    @cached_property
    def best(self) -> tuple[Mask, Mask]:
        """The edges that each node has in the best structure below it.

        Every child that adds something, or the best one if none does.
        """
        starts, edges, *_ = self.totals(MAX)
        chosen = edges > 0
        for kinds in (slice(0, len(FROM_B)), slice(len(FROM_B), None)):
            own = edges[..., kinds]
            single = own == own.max(axis=-1, keepdims=True)
            chosen[..., kinds] |= single & (np.cumsum(single, axis=-1) == 1)
        return starts > 0, chosen & (self.edges > NEVER / 2)


def marginals(chart: Chart, threshold: float) -> FoundPaths:
    """All mentions whose probability is the threshold or more, the most probable first."""
    probabilities = chart.log_probabilities()
    whole = np.ones_like(probabilities[1], dtype=bool)
    return _search(chart, probabilities, _starts(probabilities[0] < np.inf), whole, threshold)


def best(chart: Chart, reading: Reading, structure: tuple[Mask, Mask] | None = None) -> FoundPaths:
    """The mentions of the best structure, with the logarithms of their probabilities.

    `structure` is `chart.best`, which no temperature changes.
    """
    starts, edges = structure or chart.best
    own = _starts(starts)
    if reading == "all":
        return _search(chart, chart.log_probabilities(), own, edges, 0.0)
    paths, complete = enough(chart.graph, _reached(chart.graph, own, edges))
    return scored(chart, paths, complete=complete)


def scored(chart: Chart, paths: Iterable[Path], *, complete: bool) -> FoundPaths:
    """Mentions with the logarithms of their probabilities in a chart, best first."""
    probabilities = chart.log_probabilities()
    found = [(path, log_probability(chart.graph, path, probabilities)) for path in paths]
    return FoundPaths(tuple(sorted(found, key=lambda own: -own[1])), complete)


def log_probability(graph: Graph, path: Path, probabilities: tuple[Array, Array]) -> float:
    """That of a mention: it is in a set if each of its edges is."""
    starts, edges = probabilities
    total = float(starts[path.start, path.label, path.family])
    for step in path.steps:
        graph_number, place = graph.place(path.start, step.word)
        total += float(edges[graph_number, place, path.label, step.row, step.edge])
    return total


def _starts(chosen: Mask) -> list[Start]:
    return [(int(label), int(word), int(f)) for word, label, f in np.argwhere(chosen)]


def _search(
    chart: Chart,
    probabilities: tuple[Array, Array],
    starts: Sequence[Start],
    chosen: Mask,
    threshold: float,
) -> FoundPaths:
    of_starts, of_edges = probabilities
    place = chart.graph.place

    def follow(
        label: int, start: int, word: int, row: int, kinds: Sequence[Edge]
    ) -> list[tuple[Edge, float]]:
        node = (*place(start, word), label, row)
        have, weights = chosen[node], of_edges[node]
        return [(edge, float(weights[edge])) for edge in kinds if have[edge]]

    weights = {(y, word, f): float(of_starts[word, y, f]) for y, word, f in starts}
    return search(chart.graph, weights, follow, float(np.log(threshold)) if threshold else NEVER)


def _reached(graph: Graph, starts: Sequence[Start], chosen: Mask) -> Structure:
    """The structure that chosen edges make below these starts."""
    edges: set[tuple[int, int, Step]] = set()
    waiting = [(y, word, word, graph.first_rows[f], True) for y, word, f in starts]
    while waiting:
        label, start, word, row, in_segment = waiting.pop()
        number, place = graph.place(start, word)
        for edge in FROM_B if in_segment else FROM_O:
            own = (label, number, Step(word, row, edge))
            if chosen[number, place, label, row, edge] and own not in edges:
                edges.add(own)
                if edge is not Edge.END:
                    inside_next = edge in (Edge.NEXT, Edge.RESUME)
                    below = row + (edge is Edge.RESUME)
                    waiting.append((label, start, word + 1, below, inside_next))
    return Structure(frozenset(starts), frozenset(edges))
