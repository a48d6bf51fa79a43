"""Maximal cliques by looking at every set of nodes."""

from __future__ import annotations


def maximal_cliques(count, edges):
    """Frozen sets of nodes from 0 to `count` - 1; `edges` are frozen sets of two nodes."""
    near = [{b for b in range(count) if frozenset((a, b)) in edges} for a in range(count)]
    sets = ({n for n in range(count) if chosen >> n & 1} for chosen in range(1, 1 << count))
    return {
        frozenset(nodes)
        for nodes in sets
        if all(nodes <= near[n] | {n} for n in nodes)
        and not any(nodes <= near[n] for n in range(count))
    }
