"""The format: mentions to structures and back, against enumeration and the published counts."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import hypergraph_naive as naive
from trigner.families.hypergraph.graph import Edge, Graph, Structure, encode, prefix_tree, structure
from trigner.families.hypergraph.reading import MAX_MENTIONS, mention_of, read, round_trip
from trigner.mentions import Mention

KINDS = ("start", "shared", "split")
SETS = [  # set, what SHARED, SPLIT and the graph of starts add to it
    ([(0, 1), (1, 2)], [(1,), (0, 1, 2)], [(1,), (0, 1, 2)], []),
    ([(0, 3), (1, 4)], [(0, 4), (1, 3)], [(0, 4), (1, 3)], []),
    ([(0, 1, 3), (1,)], [(0, 1), (1, 3)], [], []),
    ([(0, 3), (1, 3, 5)], [(0, 3, 5), (1, 3)], [], []),
    ([(0, 1, 2), (1,)], [(0, 1), (1, 2)], [(0, 1), (1, 2)], []),
    ([(0, 2, 4), (1, 2, 5)], [], [], []),
    ([(0, 2), (0, 1, 2, 4)], [], [], []),
    ([(0, 1, 2), (0, 2, 4)], [], [], []),
    ([(1, 6), (3, 6), (5, 6)], [], [], []),
    ([(1, 2), (1, 4, 5, 6)], [], [], []),
    ([(0, 3, 4, 5), (0, 3, 4, 7, 8), (2, 3, 4, 7, 8), (2, 3, 4, 5)], [], [], []),
]


def mention_set(words, label="ADR"):
    return {Mention(each, label) for each in words}


def back(kind, words, length, *, reading="all", most=3):
    found, complete = round_trip(
        ("ADR",), Graph(kind, most), reading, sorted(mention_set(words)), length
    )
    assert complete
    return {m.words for m in found}


@pytest.mark.parametrize(("given_words", "shared", "split", "start"), SETS)
def test_what_each_graph_adds(given_words, shared, split, start):
    for kind, added in (("shared", shared), ("split", split), ("start", start)):
        assert back(kind, given_words, 9) == {*given_words, *added}


def word_sets(length, most):
    return st.sets(st.sampled_from(naive.mentions(length, most)), max_size=6)


@settings(max_examples=60)
@given(st.data(), st.sampled_from(KINDS), st.integers(1, 3), st.integers(1, 7))
def test_all_paths_are_read_as_enumeration_does(data, kind, most, length):
    words = data.draw(word_sets(length, most))
    found = back(kind, words, length, most=most)
    assert found == naive.all_paths(naive.merged(sorted(words), kind))
    assert found >= words


@settings(max_examples=60)
@given(st.data(), st.sampled_from(KINDS), st.integers(1, 7))
def test_enough_paths_cover_the_structure(data, kind, length):
    words = data.draw(word_sets(length, 3))
    found = back(kind, words, length, reading="enough")
    assert found <= back(kind, words, length)
    assert naive.merged(sorted(found), kind) == naive.merged(sorted(words), kind)
    assert len(found) <= len(naive.merged(sorted(words), kind))


def structures(kind, length, most):
    """Different structures of all sets of mentions, by the graph and by enumeration."""
    graph = Graph(kind, most)
    every = naive.mentions(length, most)
    paths = encode(graph, ["A"], mention_set(every, "A")).paths
    own = [structure(graph, [path]) for path in paths]
    ours, oracle = {Structure()}, {frozenset()}
    for size in range(1, len(every) + 1):
        for chosen in combinations(range(len(every)), size):
            parts = [own[i] for i in chosen]
            ours.add(
                Structure(
                    frozenset().union(*(p.starts for p in parts)),
                    frozenset().union(*(p.edges for p in parts)),
                )
            )
            if length < 4:
                oracle.add(naive.merged([every[i] for i in chosen], kind))
    assert length == 4 or len(ours) == len(oracle)
    return len(ours)


@pytest.mark.parametrize(
    ("kind", "most", "counts"),
    [
        ("shared", 1, (2, 8, 40, 208)),
        ("split", 1, (2, 8, 40, 208)),
        ("shared", 2, (2, 8, 80, 3584)),
        ("split", 2, (2, 8, 80, 6656)),
        ("shared", 3, (2, 8, 80, 3584)),
    ],
)
def test_the_numbers_of_structures_are_those_of_the_released_script(kind, most, counts):
    """Muis and Lu's released code counts the structures of sentences of 1, 2, 3, ... words."""
    assert tuple(structures(kind, n, most) for n in range(1, len(counts) + 1)) == counts


def test_mentions_beyond_the_bounds_are_named():
    graph = Graph("start", max_segments=2, max_extent=4)
    too_many, too_long, fits = (Mention(words, "A") for words in ((0, 2, 4), (0, 4), (1, 2, 4)))
    encoding = encode(graph, ["A"], [too_many, too_long, fits])
    assert encoding.lost == (too_many, too_long)
    assert [mention_of(path, ["A"]) for path in encoding.paths] == [fits]
    assert not encode(Graph("shared", 2, 4), ["A"], [too_long]).lost


def test_types_do_not_share_nodes():
    mentions = [Mention((0, 1), "A"), Mention((1, 2), "B")]
    found, _ = round_trip(("A", "B"), Graph("shared"), "all", mentions, 3)
    assert found == set(mentions)


def test_an_unknown_type_is_refused(refused):
    with refused(error=ValueError):
        encode(Graph(), ["A"], [Mention((0,), "C")])


def test_a_structure_of_very_many_paths_is_bounded():
    # Each word may end a mention or be left out: any subset of the words between, 2^13 paths.
    every = [(0, *rest) for n in range(1, 5) for rest in combinations(range(1, 15), n)]
    found, complete = round_trip(
        ("A",), Graph("start", 16), "all", sorted(mention_set(every, "A")), 15
    )
    assert len(found) == MAX_MENTIONS
    assert not complete


@given(st.data(), st.sampled_from(KINDS))
def test_a_prefix_tree_has_an_edge_for_each_prefix(data, kind):
    words = data.draw(word_sets(5, 3))
    graph = Graph(kind)
    starts, edges = prefix_tree(encode(graph, ["A"], mention_set(words, "A")).paths)
    ones = naive.tree_score(sorted(words), kind, lambda first, edge: 1.0)
    assert len(starts) + len(edges) == ones
    found = read(graph, structure(graph, [path for path, _ in edges]), "all").paths
    assert words <= {mention_of(path, ["A"]).words for path, _ in found}


def test_edges_that_a_row_lacks():
    split = Graph("split", 2)
    assert split.rows == ((0, 0), (1, 0), (1, 1))
    assert not split.allowed[1, Edge.END]
    assert split.allowed[1, Edge.GAP]
    assert not split.allowed[0, Edge.GAP]
    assert not split.allowed[2, Edge.GAP]


@pytest.mark.parametrize(
    "words",
    [
        [(0, 1, 4, 5), (0, 3, 4, 5)],  # severe pain and swelling of legs
        [(0, 1, 2), (0, 1, 4)],
        [(0, 1), (1, 2)],
        [(0, 3), (1, 4)],
    ],
)
def test_enough_paths_of_the_default_graph_read_coordinations_back(words):
    from trigner.families.hypergraph.spec import SPEC

    mentions = [Mention(each, "A") for each in words]
    assert SPEC.round_trip is not None
    assert SPEC.round_trip(["A"], SPEC.settings())(mentions, 6) == (set(mentions), True)


def test_all_paths_recombine_mentions_of_one_first_word():
    words = [(0, 1, 4, 5), (0, 3, 4, 5)]
    assert back("start", words, 6) == {*words, (0, 1, 3, 4, 5), (0, 4, 5)}
