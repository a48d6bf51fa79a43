"""The mention hypergraph of Muis and Lu (EMNLP 2016), and its variant that remembers the start.

Of each entity type, with `c` counting segments from 0:

    T(i)      mentions whose first word is i: none, or those below B(i, 0)
    B(i, c)   word i is in segment c of some mention:  END -> X, NEXT -> B(i+1, c), GAP -> O(i+1, c)
    O(i, c)   word i is in the gap after segment c:    STAY -> O(i+1, c), RESUME -> B(i+1, c+1)

Below T a node picks any non-empty subset of its children: that is its hyperedge. A mention is a
path from T to X, a set of mentions the union of their paths' edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Literal

import numpy as np

from trigner.arrays import Booleans
from trigner.mentions import Mention

GraphKind = Literal["start", "shared", "split"]


class Edge(IntEnum):
    """Where an edge leads, from B (`END`, `NEXT`, `GAP`) or from O (`STAY`, `RESUME`)."""

    END = 0
    NEXT = 1
    GAP = 2
    STAY = 3
    RESUME = 4


FROM_B = (Edge.END, Edge.NEXT, Edge.GAP)
FROM_O = (Edge.STAY, Edge.RESUME)


@dataclass(frozen=True, slots=True, order=True)
class Step:
    """An edge of a path: from the node of a word in a row, B or O as the kind of edge says."""

    word: int
    row: int
    edge: Edge


@dataclass(frozen=True, slots=True)
class Path:
    """A mention in the graph: its type, first word, family, and its steps down to X."""

    label: int
    start: int
    family: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Graph:
    """Which nodes there are.

    A *row* is what nodes have besides their word: a segment's number `c`, with `split` also the
    number of segments of the whole mention, its *family*. With `start` each first word has a graph
    of its own, so that mentions share nodes only if they begin at the same word (after Wang and
    Lu, EMNLP 2018); its mentions extend over `max_extent` words at most.
    """

    kind: GraphKind = "start"
    max_segments: int = 3
    max_extent: int | None = 64

    @property
    def remembers_start(self) -> bool:
        """Whether each first word has nodes of its own."""
        return self.kind == "start"

    @cached_property
    def rows(self) -> tuple[tuple[int, int], ...]:
        """Family and segment of each row."""
        if self.kind == "split":
            return tuple((f, c) for f in range(self.max_segments) for c in range(f + 1))
        return tuple((0, c) for c in range(self.max_segments))

    @cached_property
    def first_rows(self) -> tuple[int, ...]:
        """The row of each family's first segment."""
        return tuple(row for row, (_, segment) in enumerate(self.rows) if segment == 0)

    @property
    def families(self) -> int:
        """How many T chooses among."""
        return len(self.first_rows)

    @cached_property
    def allowed(self) -> Booleans:
        """Which kinds of edges each row has, `[R, 5]`."""
        allowed = np.ones((len(self.rows), len(Edge)), dtype=bool)
        for row, (family, segment) in enumerate(self.rows):
            last = family if self.kind == "split" else self.max_segments - 1
            if segment == last:
                allowed[row, [Edge.GAP, Edge.STAY, Edge.RESUME]] = False
            elif self.kind == "split":
                allowed[row, Edge.END] = False
        return allowed

    def expresses(self, mention: Mention) -> bool:
        """Whether there is a path for this mention."""
        bound = self.max_extent if self.remembers_start else None
        short = bound is None or mention.words[-1] - mention.words[0] < bound
        return short and len(mention.segments) <= self.max_segments

    def path(self, mention: Mention, label: int) -> Path:
        """The path of a mention that it expresses; `label` is the index of its type."""
        words = frozenset(mention.words)
        start, end = mention.words[0], mention.words[-1]
        family = len(mention.segments) - 1 if self.kind == "split" else 0
        row, steps = self.first_rows[family], []
        for word in range(start, end + 1):
            following = word + 1 in words
            if word in words:
                edge = Edge.END if word == end else Edge.NEXT if following else Edge.GAP
            else:
                edge = Edge.RESUME if following else Edge.STAY
            steps.append(Step(word, row, edge))
            row += edge is Edge.RESUME
        return Path(label, start, family, tuple(steps))

    def place(self, start: int, word: int) -> tuple[int, int]:
        """Which graph a node of this first word stands in, and where in it: indices `G`, `D`."""
        return (start, word - start) if self.remembers_start else (0, word)

    def size(self, length: int) -> tuple[int, int]:
        """Graphs `G` of a sentence of so many words, and places `D` in each."""
        if not self.remembers_start:
            return 1, length
        return length, length if self.max_extent is None else min(length, self.max_extent)


@dataclass(frozen=True)
class Structure:
    """Merged paths: `starts` are (type, first word, family), `edges` (type, graph, step).

    The graph is numbered as `Graph.place` does. Different sets of mentions may have one structure.
    """

    starts: frozenset[tuple[int, int, int]] = field(default_factory=frozenset)
    edges: frozenset[tuple[int, int, Step]] = field(default_factory=frozenset)


def structure(graph: Graph, paths: Iterable[Path]) -> Structure:
    """The union of the edges of paths (Muis and Lu 2016, section 3)."""
    paths = list(paths)
    return Structure(
        frozenset((p.label, p.start, p.family) for p in paths),
        frozenset(
            (p.label, graph.place(p.start, p.start)[0], step) for p in paths for step in p.steps
        ),
    )


@dataclass(frozen=True)
class Encoding:
    """Mentions as paths, and those that have none."""

    paths: tuple[Path, ...]
    lost: tuple[Mention, ...]


def encode(graph: Graph, labels: Sequence[str], mentions: Iterable[Mention]) -> Encoding:
    """Paths of distinct mentions, in order. Raises ValueError for a type that is not a label."""
    own = sorted(set(mentions))
    index = {label: number for number, label in enumerate(labels)}
    if unknown := {m.label for m in own} - set(labels):
        raise ValueError(f"unknown types: {', '.join(sorted(unknown))}")
    return Encoding(
        tuple(graph.path(m, index[m.label]) for m in own if graph.expresses(m)),
        tuple(m for m in own if not graph.expresses(m)),
    )


def prefix_tree(paths: Iterable[Path]) -> tuple[list[tuple[int, int, int]], list[tuple[Path, int]]]:
    """The edges of the prefix tree of paths: starts, and (path, index of its step).

    An edge counts once for each node of the tree. In the plain inside recursion a node that is
    reached over two prefixes is expanded twice, so that these trees, one-to-one with sets of
    mentions, are what its partition function sums over.
    """
    starts: list[tuple[int, int, int]] = []
    edges: list[tuple[Path, int]] = []
    seen: set[object] = set()
    for path in paths:
        own = (path.label, path.start, path.family)
        if own not in seen:
            seen.add(own)
            starts.append(own)
        for index in range(len(path.steps)):
            prefix = (own, path.steps[: index + 1])
            if prefix not in seen:
                seen.add(prefix)
                edges.append((path, index))
    return starts, edges
