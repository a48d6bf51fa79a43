"""The recursion, its semirings and decoding, against sums over every set of mentions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import hypergraph_naive as naive
from trigner.families.hypergraph.decoding import Chart, best, log_probability, marginals
from trigner.families.hypergraph.graph import Edge, Graph, encode, structure
from trigner.families.hypergraph.inside import NEVER
from trigner.families.hypergraph.network import gold_score, log_partition
from trigner.families.hypergraph.reading import mention_of, read
from trigner.families.hypergraph.settings import HypergraphSettings
from trigner.families.hypergraph.spec import SPEC
from trigner.mentions import Mention

KINDS = ("start", "shared", "split")


def chart_of(graph, length, draw, labels=1):
    """Scores of a sentence from `draw(shape)`, NEVER where there is no edge."""
    graphs, places = graph.size(length)
    starts = draw((length, labels, graph.families))
    edges = draw((graphs, places, labels, len(graph.rows), len(Edge)))
    for number in range(graphs):
        for place in range(places):
            word = place + number if graph.remembers_start else place
            there = graph.allowed.copy()
            if place + 1 == places or word + 1 >= length:
                there[:, [e for e in Edge if e is not Edge.END]] = False
            edges[number, place][:, ~there] = NEVER
    return Chart(graph, starts, edges)


def random_chart(kind, length, most, seed, labels=1):
    rng = np.random.default_rng(seed)
    return chart_of(Graph(kind, most), length, lambda shape: rng.normal(0, 2, shape), labels)


def edge_scores(chart, label=0):
    """The chart as a function of the oracle's named edges."""
    graph = chart.graph

    def score(first, edge):
        above, below = edge
        if above[0] == "T":
            family = below[3] - 1 if graph.kind == "split" else 0
            return chart.starts[first, label, family]
        _, word, segment, *more = above
        family = more[0] - 1 if graph.kind == "split" else 0
        row = graph.rows.index((family, segment))
        kind = {"BX": Edge.END, "BB": Edge.NEXT, "BO": Edge.GAP, "OO": Edge.STAY}.get(
            above[0] + below[0], Edge.RESUME
        )
        return chart.edges[(*graph.place(first, word), label, row, kind)]

    return score


def tensors(chart):
    return torch.tensor(chart.starts)[None], torch.tensor(chart.edges)[None]


CASES = (
    st.sampled_from(KINDS),
    st.sampled_from([(1, 1), (2, 2), (3, 1), (3, 2), (3, 3)]),
    st.integers(0, 10**6),
)


@settings(max_examples=20)
@given(*CASES)
def test_partition_and_marginals_are_those_of_enumeration(kind, size, seed):
    length, most = size
    chart = random_chart(kind, length, most, seed)
    sets = naive.Sets(length, most, kind, edge_scores(chart))
    assert chart.log_partition() == pytest.approx(sets.log_partition())
    assert log_partition(chart.graph, *tensors(chart)).item() == pytest.approx(sets.log_partition())
    found = marginals(chart, 1e-9)
    assert found.complete
    own = {mention_of(path, ["A"]).words: np.exp(log) for path, log in found.paths}
    for words in sets.mentions:
        assert own.get(words, 0.0) == pytest.approx(sets.marginal(words), abs=1e-8)


@settings(max_examples=20)
@given(*CASES)
def test_the_best_structure_is_that_of_enumeration(kind, size, seed):
    length, most = size
    chart = random_chart(kind, length, most, seed)
    sets = naive.Sets(length, most, kind, edge_scores(chart))
    found = best(chart, "all")
    assert {mention_of(path, ["A"]).words for path, _ in found.paths} == sets.best()
    assert [log for _, log in found.paths] == sorted((log for _, log in found.paths), reverse=True)
    for path, log in found.paths:
        words = mention_of(path, ["A"]).words
        assert np.exp(log) == pytest.approx(sets.marginal(words))


@pytest.mark.parametrize("kind", KINDS)
def test_four_words_are_summed_over_exactly(kind):
    chart = random_chart(kind, 4, 2, 5)
    sets = naive.Sets(4, 2, kind, edge_scores(chart))
    assert chart.log_partition() == pytest.approx(sets.log_partition())
    assert {mention_of(p, ["A"]).words for p, _ in best(chart, "all").paths} == sets.best()
    probable = {m for m in sets.mentions if sets.marginal(m) >= 0.3}
    found = marginals(chart, 0.3)
    assert {mention_of(path, ["A"]).words for path, _ in found.paths} == probable


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("length", "most"), [(1, 2), (3, 2), (5, 2), (5, 3), (6, 1)])
def test_scores_of_zero_count_the_sets_of_mentions(kind, length, most):
    chart = chart_of(Graph(kind, most), length, np.zeros)
    expected = len(naive.mentions(length, most)) * np.log(2)
    assert chart.log_partition() == pytest.approx(expected)


@settings(max_examples=20)
@given(*CASES, st.data())
def test_gold_is_scored_as_one_of_the_sets(kind, size, seed, data):
    from trigner.families.hypergraph.graph import prefix_tree

    length, most = size
    chart = random_chart(kind, length, most, seed)
    words = data.draw(st.sets(st.sampled_from(naive.mentions(length, most))))
    paths = encode(chart.graph, ["A"], [Mention(w, "A") for w in words]).paths
    starts, edges = prefix_tree(paths)
    indices = [
        (0, *chart.graph.place(p.start, p.steps[i].word), 0, p.steps[i].row, p.steps[i].edge)
        for p, i in edges
    ]
    own = gold_score(
        *tensors(chart),
        torch.tensor([(0, w, y, f) for y, w, f in starts], dtype=torch.long).view(-1, 4),
        torch.tensor(indices, dtype=torch.long).view(-1, 6),
    )
    oracle = naive.tree_score(sorted(words), kind, edge_scores(chart))
    assert own.item() == pytest.approx(oracle)
    assert own.item() <= chart.log_partition()


@pytest.mark.parametrize("kind", KINDS)
def test_types_and_batch_mates_are_independent(kind):
    one, other = random_chart(kind, 4, 2, 1), random_chart(kind, 4, 2, 2)
    both = Chart(
        one.graph,
        np.concatenate([one.starts, other.starts], axis=1),
        np.concatenate([one.edges, other.edges], axis=2),
    )
    assert both.log_partition() == pytest.approx(one.log_partition() + other.log_partition())
    batch = log_partition(
        one.graph, *(torch.cat(pair) for pair in zip(tensors(one), tensors(other), strict=True))
    )
    assert batch.tolist() == pytest.approx([one.log_partition(), other.log_partition()])


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_the_expected_numbers_of_edges(kind):
    chart = random_chart(kind, 3, 2, 3)
    starts, edges = (each.requires_grad_() for each in tensors(chart))
    log_partition(chart.graph, starts, edges).sum().backward()
    sets = naive.Sets(3, 2, kind, edge_scores(chart))
    weights = np.exp(sets.scores - sets.log_partition())
    paths = [encode(chart.graph, ["A"], [Mention(w, "A") for w in c]).paths for c in sets.chosen]
    ends = np.zeros(edges.shape[1:])
    begun = np.zeros(starts.shape[1:])
    for weight, chosen in zip(weights, paths, strict=True):
        for label, word, family in {(p.label, p.start, p.family) for p in chosen}:
            begun[word, label, family] += weight
        for path in chosen:
            last = path.steps[-1]
            where = (*chart.graph.place(path.start, last.word), 0, last.row, last.edge)
            ends[where] += weight
    np.testing.assert_allclose(starts.grad[0].numpy(), begun, atol=1e-9)
    found = edges.grad[0].numpy()
    np.testing.assert_allclose(found[..., Edge.END], ends[..., Edge.END], atol=1e-9)


def test_a_temperature_changes_scores_and_no_mention():
    chart = random_chart("start", 5, 2, 4)
    plain, cooled = best(chart, "all"), best(chart.at(3.0), "all", chart.best)
    assert {path for path, _ in plain.paths} == {path for path, _ in cooled.paths}
    assert {path for path, _ in best(chart.at(3.0), "all").paths} == {
        path for path, _ in cooled.paths
    }
    assert dict(plain.paths) != dict(cooled.paths)


@pytest.mark.parametrize("kind", KINDS)
def test_enough_paths_of_the_best_structure(kind):
    chart = random_chart(kind, 6, 3, 0)
    every, enough = best(chart, "all"), best(chart, "enough")
    whole = structure(chart.graph, [path for path, _ in every.paths])
    assert {p for p, _ in enough.paths} == {p for p, _ in read(chart.graph, whole, "enough").paths}
    assert dict(enough.paths).items() <= {p: pytest.approx(v) for p, v in every.paths}.items()
    probabilities = chart.log_probabilities()
    for path, log in every.paths:
        assert log == pytest.approx(log_probability(chart.graph, path, probabilities))


@given(st.data(), st.sampled_from(KINDS), st.sampled_from(["best", "marginal"]))
def test_of_a_certain_structure_comes_back_what_the_ceiling_says(data, kind, decoding):
    length = 6
    word = st.integers(0, length - 1)
    words = data.draw(st.sets(st.sets(word, min_size=1).map(sorted).map(tuple), max_size=4))
    gold = [Mention(own, "A") for own in sorted(words)]
    own = HypergraphSettings(graph=kind, decoding=decoding)
    graph = own.structure()
    certain = structure(graph, encode(graph, ("A",), gold).paths)
    chart = chart_of(graph, length, lambda shape: np.full(shape, -1e5))
    for label, first, family in certain.starts:
        chart.starts[first, label, family] = 50
    for label, place, step in certain.edges:
        chart.edges[(*graph.place(place, step.word), label, step.row, step.edge)] = 50
    found = best(chart, own.reading) if decoding == "best" else marginals(chart, 0.5)
    back, complete = SPEC.round_trip(("A",), own)(gold, length)
    assert {mention_of(path, ("A",)) for path, _ in found.paths} == back
    assert found.complete == complete


@pytest.mark.parametrize("scale", [0.0, 30.0, 300.0])
@pytest.mark.parametrize("kind", KINDS)
def test_large_scores_and_long_sentences_give_numbers(kind, scale):
    rng = np.random.default_rng(1)
    chart = chart_of(Graph(kind, 3, 12), 60, lambda shape: rng.normal(0, scale, shape))
    starts, edges = (each.float().requires_grad_() for each in tensors(chart))
    value = log_partition(chart.graph, starts, edges)
    value.sum().backward()
    assert value.item() == pytest.approx(chart.log_partition(), rel=1e-4)
    assert torch.isfinite(edges.grad).all()
    assert torch.isfinite(starts.grad).all()
    for log in chart.log_probabilities():
        assert not np.isnan(log).any()
        assert (log <= 0).all()
