"""From a structure back to mentions: two interpretations of edges that mentions share.

`all` reads every path from T to X: it never loses a mention that the graph expresses, and adds
those that paths recombine to. `enough` reads a few paths that cover all edges: it adds hardly any,
and loses some. Both are Muis and Lu's (2016); which paths are enough is ours: edges are covered in
the order of words, and a path that comes into a gap stays in it while uncovered edges do.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Literal

from trigner.families.hypergraph.graph import (
    FROM_B,
    FROM_O,
    Edge,
    Graph,
    Path,
    Step,
    Structure,
    encode,
    structure,
)
from trigner.mentions import Mention

Reading = Literal["all", "enough"]
MAX_MENTIONS = 500
"""Most mentions read in a sentence."""
MAX_STEPS = 50_000
"""Most edges followed in a sentence: long paths that all miss the bound of `minimum`."""

Start = tuple[int, int, int]
"""Type, first word and family."""
Follow = Callable[[int, int, int, int, Sequence[Edge]], Sequence[tuple[Edge, float]]]
"""The edges taken from a node, with weights of at most 0, by type, first word, word and row, among
the given kinds."""


@dataclass(frozen=True)
class FoundPaths:
    """Paths with the sum of their weights, and whether the search ended before its bounds."""

    paths: tuple[tuple[Path, float], ...]
    complete: bool


def search(
    graph: Graph,
    starts: Mapping[Start, float],
    follow: Follow,
    minimum: float = -float("inf"),
) -> FoundPaths:
    """Paths of the largest sum of weights first, of equal ones the longest.

    Ends with MAX_MENTIONS paths, at MAX_STEPS edges, or when none is left with a sum of `minimum`
    or more.
    """
    heap: list[tuple[float, int, Start, int, bool, tuple[Step, ...]]] = [
        (-weight, 0, start, graph.first_rows[start[2]], True, ())
        for start, weight in starts.items()
        if weight >= minimum
    ]
    heapq.heapify(heap)
    found: list[tuple[Path, float]] = []
    for _ in range(MAX_STEPS):
        if not heap:
            return FoundPaths(tuple(found), True)
        cost, depth, start, row, inside, steps = heapq.heappop(heap)
        if steps and steps[-1].edge is Edge.END:
            if len(found) == MAX_MENTIONS:
                break
            found.append((Path(*start, steps), -cost))
            continue
        label, first, _ = start
        word = first - depth
        for edge, weight in follow(label, first, word, row, FROM_B if inside else FROM_O):
            if weight - cost < minimum:
                continue
            below = row + (edge is Edge.RESUME)
            taken = (*steps, Step(word, row, edge))
            in_segment = edge in (Edge.NEXT, Edge.RESUME)
            heapq.heappush(heap, (cost - weight, depth - 1, start, below, in_segment, taken))
    return FoundPaths(tuple(found), not heap)


def read(graph: Graph, own: Structure, reading: Reading) -> FoundPaths:
    """The paths that a structure is read as, with weights of 0."""
    if reading == "enough":
        paths, complete = enough(graph, own)
        return FoundPaths(tuple((path, 0.0) for path in paths), complete)

    def follow(
        label: int, start: int, word: int, row: int, kinds: Sequence[Edge]
    ) -> list[tuple[Edge, float]]:
        place = graph.place(start, start)[0]
        return [(e, 0.0) for e in kinds if (label, place, Step(word, row, e)) in own.edges]

    return search(graph, dict.fromkeys(sorted(own.starts), 0.0), follow)


def enough(graph: Graph, own: Structure) -> tuple[tuple[Path, ...], bool]:
    """At most MAX_MENTIONS paths of `cover`, and whether these are all."""
    paths = tuple(islice(cover(graph, own), MAX_MENTIONS + 1))
    return paths[:MAX_MENTIONS], len(paths) <= MAX_MENTIONS


def cover(graph: Graph, own: Structure) -> Iterator[Path]:
    """Paths that together cover every edge of a structure.

    For each uncovered edge in the order of words and rows one path: from it up and down by
    uncovered edges where there are some, else by the first. Edges from T come last.
    """
    graphs: dict[tuple[int, int], set[Step]] = defaultdict(set)
    for label, place, step in own.edges:
        graphs[label, place].add(step)
    for (label, place), steps in sorted(graphs.items()):
        tops = {
            (word, graph.first_rows[family]): family
            for known, word, family in own.starts
            if known == label and graph.place(word, word)[0] == place
        }
        left = set(steps)
        uncovered = set(tops)
        under = [min(s for s in steps if (s.word, s.row) == t and s.edge in FROM_B) for t in tops]
        # Filtered as they are asked for: what is covered changes meanwhile.
        fresh = (step for step in sorted(steps) if step in left)
        unstarted = (step for step in sorted(under) if (step.word, step.row) in uncovered)
        for step in chain(fresh, unstarted):
            path = _through(step, steps, left, tops, uncovered)
            left.difference_update(path)
            top = (path[0].word, path[0].row)
            uncovered.discard(top)
            yield Path(label, top[0], tops[top], tuple(path))


def _through(
    step: Step,
    steps: set[Step],
    left: set[Step],
    tops: Collection[tuple[int, int]],
    uncovered: Collection[tuple[int, int]],
) -> list[Step]:
    """A path from T to X over this step."""
    path = [step]
    while True:
        head = path[0]
        top = (head.word, head.row)
        is_top = head.edge in FROM_B and top in tops
        above = [s for s in _above(head) if s in steps]
        fresh = [s for s in above if s in left]
        if is_top and (top in uncovered or not fresh):
            break
        path.insert(0, (fresh or above)[0])
    while path[-1].edge is not Edge.END:
        below = [s for s in _below(path[-1]) if s in steps]
        path.append(([s for s in below if s in left] or below)[0])
    return path


def _above(step: Step) -> list[Step]:
    """Steps that may lead to the node of this one."""
    word, row = step.word - 1, step.row
    if step.edge in FROM_B:
        return [Step(word, row, Edge.NEXT), Step(word, row - 1, Edge.RESUME)]
    return [Step(word, row, Edge.GAP), Step(word, row, Edge.STAY)]


def _below(step: Step) -> list[Step]:
    """Steps that may follow this one."""
    row = step.row + (step.edge is Edge.RESUME)
    kinds = FROM_B if step.edge in (Edge.NEXT, Edge.RESUME) else FROM_O
    return [Step(step.word + 1, row, edge) for edge in kinds]


def mention_of(path: Path, labels: Sequence[str]) -> Mention:
    """The mention that a path means."""
    return Mention(tuple(s.word for s in path.steps if s.edge in FROM_B), labels[path.label])


def round_trip(
    labels: Sequence[str],
    graph: Graph,
    reading: Reading,
    mentions: Sequence[Mention],
    length: int,
) -> tuple[frozenset[Mention], bool]:
    """What comes back of mentions, and whether that is all (`evaluation.RoundTrip`)."""
    own = structure(graph, encode(graph, labels, mentions).paths)
    found = read(graph, own, reading)
    return frozenset(mention_of(path, labels) for path, _ in found.paths), found.complete
