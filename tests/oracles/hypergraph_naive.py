"""The mention hypergraph by enumeration: every mention, every set of them, every structure.

Written from the definition; knows nothing of rows, charts or recursions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations, pairwise

import numpy as np

Node = tuple[object, ...]
NodeEdge = tuple[Node, Node]


def mentions(length: int, most_segments: int) -> list[tuple[int, ...]]:
    """All mentions of a sentence, as words."""
    subsets = chain.from_iterable(
        combinations(range(length), size) for size in range(1, length + 1)
    )
    return [words for words in subsets if segments(words) <= most_segments]


def segments(words: Sequence[int]) -> int:
    return 1 + sum(b > a + 1 for a, b in pairwise(words))


def path(words: Sequence[int], kind: str) -> list[NodeEdge]:
    """Edges from T down to X, between named nodes of one type."""
    own: tuple[object, ...] = {
        "shared": (),
        "split": (segments(words),),
        "start": ("from", words[0]),
    }[kind]
    nodes: list[Node] = [("T", words[0])]
    segment = 0
    for word in range(words[0], words[-1] + 1):
        if word in words:
            segment += word - 1 not in words
            nodes.append(("B", word, segment - 1, *own))
        else:
            nodes.append(("O", word, segment - 1, *own))
    nodes.append(("X",))
    return list(pairwise(nodes))


def merged(chosen: Sequence[Sequence[int]], kind: str) -> frozenset[NodeEdge]:
    """The structure of a set of mentions."""
    return frozenset(edge for words in chosen for edge in path(words, kind))


def all_paths(edges: frozenset[NodeEdge]) -> set[tuple[int, ...]]:
    """The mentions of every path of a structure."""
    below: dict[Node, list[Node]] = {}
    for above, under in edges:
        below.setdefault(above, []).append(under)

    def down(node: Node, words: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if node == ("X",):
            yield words
        for under in below.get(node, []):
            yield from down(under, (*words, int(str(under[1]))) if under[0] == "B" else words)

    return {words for top in below if top[0] == "T" for words in down(top, ())}


def tree_score(
    chosen: Sequence[Sequence[int]], kind: str, score: Callable[[int, NodeEdge], float]
) -> float:
    """The sum of `score(first word, edge)` over the prefix tree of the mentions' paths."""
    prefixes = {
        (words[0], tuple(edges[: i + 1]))
        for words in chosen
        for edges in [path(words, kind)]
        for i in range(len(edges))
    }
    return sum(score(first, prefix[-1]) for first, prefix in prefixes)


class Sets:
    """Every set of mentions of a sentence with its score."""

    def __init__(
        self, length: int, most_segments: int, kind: str, score: Callable[[int, NodeEdge], float]
    ) -> None:
        self.mentions = mentions(length, most_segments)
        self.chosen = [
            frozenset(chosen)
            for size in range(len(self.mentions) + 1)
            for chosen in combinations(self.mentions, size)
        ]
        self.scores = np.array([tree_score(sorted(c), kind, score) for c in self.chosen])

    def log_partition(self) -> float:
        return float(np.logaddexp.reduce(self.scores))

    def marginal(self, words: tuple[int, ...]) -> float:
        """The probability that a mention is in the set."""
        weights = np.exp(self.scores - self.log_partition())
        return float(weights[[words in c for c in self.chosen]].sum())

    def best(self) -> frozenset[tuple[int, ...]]:
        return self.chosen[int(self.scores.argmax())]
