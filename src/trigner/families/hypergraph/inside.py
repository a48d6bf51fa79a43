"""The plain inside recursion over the hypergraph, in any semiring, on NumPy and PyTorch alike.

    In(X) = 0
    In(v) = log( prod over children u of (1 + exp(phi(v, u) + In(u)))  -  1 )    non-empty subsets
    log Z = sum over i, y of log( prod over families f of (1 + exp(phi(T, f) + In(B(i, first f)))) )

Muis and Lu, EMNLP 2016, section 3, with scores for edges (the subset's score is their sum) and 0 as
the score of a T without mentions. Taking `max` for the sum gives the best structure.

A node that two prefixes reach is expanded twice, independently: Z sums over sets of mentions, each
with the score of its prefix tree (`graph.prefix_tree`), and `log Z` minus that of gold is a
negative log-likelihood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trigner.families.hypergraph.graph import FROM_B, FROM_O, Edge

NEVER = -1e9
"""Score of what cannot be."""


@dataclass(frozen=True)
class Semiring:
    """`plus(a, b)` sums over two alternatives, `optional(a)` over a child taken or not.

    `next_row(a)` has at each row (last axis) the values of the next one; at the last the first's.
    """

    plus: Callable[[Any, Any], Any]
    optional: Callable[[Any], Any]
    next_row: Callable[[Any], Any]

    def non_empty(self, children: Sequence[Any]) -> Any:
        """Over all non-empty subsets of children, in logarithms."""
        value, subsets = children[0], self.optional(children[0])
        for child in children[1:]:
            value = self.plus(value, subsets + child)
            subsets = subsets + self.optional(child)
        return value


def _next_row(values: Any) -> Any:  # `numpy.roll` takes many times as long for few values
    return np.concatenate((values[..., 1:], values[..., :1]), axis=-1)


LOG = Semiring(np.logaddexp, lambda a: np.logaddexp(a, 0.0), _next_row)
"""Sums of probabilities, of NumPy arrays."""

MAX = Semiring(np.maximum, lambda a: np.maximum(a, 0.0), _next_row)
"""The best, of NumPy arrays."""


def inside(semiring: Semiring, edges: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """Values of the nodes B and of the nodes O by place, `[..., Y, R]` each.

    `edges[d][e]` are the scores `[..., Y, R]` of the edges of kind `e` of the nodes at place `d`,
    NEVER where there is none. There is one more place than `edges` have, where no node is. All
    graphs are swept at once from their last place to the first.
    """
    edges = list(edges)
    nowhere = edges[0][0] * 0 + NEVER
    b, o = [nowhere], [nowhere]
    for scores in reversed(edges):
        below = children(semiring, b[-1], o[-1])
        b_children = [scores[e] + below[e] for e in FROM_B]
        o_children = [scores[e] + below[e] for e in FROM_O]
        b.append(semiring.non_empty(b_children))
        o.append(semiring.non_empty(o_children))
    return b[::-1], o[::-1]


def children(semiring: Semiring, b: Any, o: Any) -> dict[Edge, Any]:
    """What the edges of each kind lead to, given the values at the next place.

    The row after the last one is the first: no edge leads there.
    """
    resumed = semiring.next_row(b)
    return {Edge.END: 0.0, Edge.NEXT: b, Edge.GAP: o, Edge.STAY: o, Edge.RESUME: resumed}
