"""Maximal cliques of a small graph: sets of nodes, all joined, to which no node can be added.

Bron and Kerbosch's search (1973) with Tomita's choice of a pivot. A set of nodes is an integer
whose bit `n` says that node `n` is in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from trigner.arrays import Booleans


class Effort:
    """A budget of steps for a search. `spent` is True once the search had to stop early."""

    def __init__(self, limit: int) -> None:
        self.left = limit
        self.spent = False

    def spend(self, amount: int) -> bool:
        """Take `amount` off what is left; whether there was enough."""
        if amount > self.left:
            self.spent = True
        else:
            self.left -= amount
        return not self.spent


def maximal_cliques(
    neighbours: Sequence[int], *, among: int, through: int, effort: Effort
) -> Iterator[int]:
    """Each maximal clique of the nodes `among` that holds a node of `through`, once.

    `neighbours[n]` are the nodes joined with node `n`, in both directions and never `n` itself.
    `effort` counts the nodes visited; there may be exponentially many cliques, and when it is spent
    the search ends.
    """
    # The cliques that hold `first` and no earlier node of `through`, so that none comes twice.
    done = 0
    for first in members(through & among):
        near = neighbours[first] & among
        yield from _extensions(1 << first, near & ~done, near & done, neighbours, effort)
        if effort.spent:
            return
        done |= 1 << first


def _extensions(
    clique: int, candidates: int, excluded: int, neighbours: Sequence[int], effort: Effort
) -> Iterator[int]:
    """Maximal cliques made of `clique` and candidates that no excluded node extends."""
    waiting = [(clique, candidates, excluded)]
    while waiting:
        clique, candidates, excluded = waiting.pop()
        if not effort.spend(1 + (candidates | excluded).bit_count()):
            return
        if not candidates:
            if not excluded:
                yield clique
            continue
        # A maximal clique holds the pivot or something that is not joined with it.
        pivot = max(
            members(candidates | excluded), key=lambda n: (neighbours[n] & candidates).bit_count()
        )
        for node in members(candidates & ~neighbours[pivot]):
            near = neighbours[node]
            waiting.append((clique | 1 << node, candidates & near, excluded & near))
            candidates &= ~(1 << node)
            excluded |= 1 << node


def sets_of(related: Booleans) -> list[int]:
    """For each node the set of those that it is related to, of `[N, N]`."""
    rows = np.packbits(related, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in rows]


def members(nodes: int) -> Iterator[int]:
    """The nodes of a set, increasing."""
    while nodes:
        lowest = nodes & -nodes
        yield lowest.bit_length() - 1
        nodes ^= lowest
