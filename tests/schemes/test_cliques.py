from __future__ import annotations

import random
from itertools import combinations

import pytest

from oracles import cliques_naive
from trigner.schemes.cliques import Effort, maximal_cliques, members

PLENTY = 10**6


def neighbours_of(count, edges):
    """Neighbour sets of nodes as integers."""
    found = [0] * count
    for a, b in map(sorted, edges):
        found[a] |= 1 << b
        found[b] |= 1 << a
    return found


def found_in(count, edges, *, among=None, through=None):
    """The cliques as frozen sets, in the order found."""
    everything = (1 << count) - 1
    cliques = maximal_cliques(
        neighbours_of(count, edges),
        among=everything if among is None else among,
        through=everything if through is None else through,
        effort=Effort(PLENTY),
    )
    return [frozenset(members(clique)) for clique in cliques]


def graphs(count):
    """Every graph with so many nodes."""
    pairs = [frozenset(pair) for pair in combinations(range(count), 2)]
    for chosen in range(1 << len(pairs)):
        yield {pair for n, pair in enumerate(pairs) if chosen >> n & 1}


@pytest.mark.parametrize("count", range(7))
def test_every_small_graph(count):
    for edges in graphs(count):
        found = found_in(count, edges)
        assert len(found) == len(set(found))
        assert set(found) == cliques_naive.maximal_cliques(count, edges)


def test_part_of_a_graph_and_cliques_through_some_nodes():
    random.seed(3)
    for _ in range(300):
        count = random.randint(1, 9)
        pairs = map(frozenset, combinations(range(count), 2))
        edges = {pair for pair in pairs if random.random() < 0.6}
        among, through = random.getrandbits(count), random.getrandbits(count)
        inside = [n for n in range(count) if among >> n & 1]
        own = {frozenset(inside.index(n) for n in e) for e in edges if e <= set(inside)}
        whole = cliques_naive.maximal_cliques(len(inside), own)
        expected = {frozenset(inside[n] for n in clique) for clique in whole}
        expected = {clique for clique in expected if any(through >> n & 1 for n in clique)}
        found = found_in(count, edges, among=among, through=through)
        assert len(found) == len(set(found))
        assert set(found) == expected


def test_three_to_the_power_of_a_third():
    """Moon and Moser's graph: all joined but for groups of three."""
    groups = 5
    edges = {frozenset(p) for p in combinations(range(3 * groups), 2) if p[0] // 3 != p[1] // 3}
    assert len(found_in(3 * groups, edges)) == 3**groups


def test_effort_ends_a_search_and_says_so():
    count = 90
    edges = {frozenset(p) for p in combinations(range(count), 2) if p[0] // 3 != p[1] // 3}
    everything = (1 << count) - 1
    effort = Effort(50_000)
    found = list(
        maximal_cliques(
            neighbours_of(count, edges), among=everything, through=everything, effort=effort
        )
    )
    assert effort.spent
    assert effort.left >= 0
    assert found
    assert all(clique.bit_count() == count // 3 for clique in found)


def test_effort_that_suffices_is_not_spent():
    effort = Effort(PLENTY)
    assert list(maximal_cliques([2, 1], among=3, through=3, effort=effort)) == [3]
    assert not effort.spent
    assert effort.left < PLENTY


def test_members():
    assert list(members(0b10110)) == [1, 2, 4]
    assert list(members(0)) == []
