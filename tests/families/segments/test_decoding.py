"""Both stages from scores: against sums over every set of spans, and a classifier by hand."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
import torch

from oracles import segments_naive as naive
from trigner.families.hypergraph.decoding import best
from trigner.families.hypergraph.graph import Edge, Graph
from trigner.families.hypergraph.inside import NEVER
from trigner.families.hypergraph.network import gold_score, log_partition
from trigner.families.hypergraph.system import gold_trees
from trigner.families.segments.decoding import GAPS, SegmentScores, combination_scores, decode
from trigner.families.segments.format import SegmentFormat
from trigner.mentions import Mention

LABELS = ("ADR", "Drug")
SIZE = 3


def scores_of(length, width, seed, scale=2.0, types=2):
    """Random scores of a sentence, whose segments go on as likely wherever they began."""
    rng = np.random.default_rng(seed)
    graph = Graph("start", 1, width)
    _, places = graph.size(length)
    on = rng.normal(0, scale, (length, types))
    edges = np.full((length, places, types, 1, len(Edge)), NEVER)
    edges[..., Edge.END] = rng.normal(0, scale, (length, places, types, 1))
    for first in range(length):
        for place in range(min(places, length - first) - 1):
            edges[first, place, :, 0, Edge.NEXT] = on[first + place]
    return SegmentScores(
        graph,
        rng.normal(0, scale, (length, types, 1)),
        edges,
        rng.normal(0, 1, (length, places, 4, SIZE)),
        rng.normal(0, 1, (GAPS, SIZE)),
        rng.normal(0, 1, (SIZE + 1, types)),
    )


def sets_of(scores, width, label):
    length = len(scores.starts)
    return naive.Sets(
        length,
        width,
        lambda a: scores.starts[a, label, 0],
        lambda word: scores.edges[word, 0, label, 0, Edge.NEXT],
        lambda a, b: scores.edges[a, b - a, label, 0, Edge.END],
    )


def tensors(scores):
    return torch.tensor(scores.starts)[None], torch.tensor(scores.edges)[None]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("length", "width"), [(4, 2), (1, 1), (3, 3), (2, 12)])
def test_the_sum_the_best_and_marginals_are_those_of_enumeration(length, width, seed):
    """Specification, section 9, test 6: of two types."""
    scores = scores_of(length, width, seed)
    sets = [sets_of(scores, width, label) for label in (0, 1)]
    total = sum(own.log_partition() for own in sets)
    assert scores.log_partition() == pytest.approx(total)
    assert log_partition(scores.graph, *tensors(scores)).item() == pytest.approx(total)
    found = best(scores, "all")
    assert found.complete
    of_type = {0: set(), 1: set()}
    for path, log in found.paths:
        span = (path.start, path.steps[-1].word)
        of_type[path.label].add(span)
        assert np.exp(log) == pytest.approx(sets[path.label].marginal(span))
    assert of_type == {label: own.best() for label, own in enumerate(sets)}


@pytest.mark.parametrize("chosen", [[], [(0, 0), (0, 1), (2, 3)], [(0, 1)], [(1, 2), (3, 3)]])
def test_gold_is_scored_as_one_of_the_sets(chosen):
    scores = scores_of(4, 2, 7)
    gold = [Mention(tuple(range(a, b + 1)), "Drug") for a, b in chosen]
    trees = gold_trees(scores.graph, LABELS, [gold])
    found = gold_score(*tensors(scores), **trees).item()
    sets = sets_of(scores, 2, 1)
    assert found == pytest.approx(sets.scores[sets.chosen.index(frozenset(chosen))])
    assert found <= scores.log_partition()


def test_scores_of_zero_count_the_spans():
    scores = scores_of(5, 3, 0, scale=0.0)
    assert scores.log_partition() == pytest.approx(2 * len(naive.spans(5, 3)) * np.log(2))


@pytest.mark.parametrize("scale", [0.0, 30.0, 300.0])
@pytest.mark.parametrize("length", [1, 200])
def test_large_scores_and_long_sentences_give_numbers(length, scale):
    scores = scores_of(length, 12, 1, scale)
    starts, edges = (each.float().requires_grad_() for each in tensors(scores))
    value = log_partition(scores.graph, starts, edges)
    value.sum().backward()
    assert value.item() == pytest.approx(scores.log_partition(), rel=1e-4)
    assert torch.isfinite(edges.grad).all()
    assert torch.isfinite(starts.grad).all()


def test_combinations_are_scored_as_written():
    scores = scores_of(6, 2, 3)
    parts = scores.parts[:, 0]
    chosen = np.array([[0, 2, 5], [1, 3, 5]])
    between = np.array([[1, 2], [1, 40]])
    found = combination_scores(parts, scores.gaps, scores.readout, chosen, between)
    for row, (a, b, c), (one, other) in zip(found, chosen, [(0, 1), (0, 15)], strict=True):
        hidden = parts[a, 1] + parts[b, 2] + parts[c, 3] + scores.gaps[one] + scores.gaps[other]
        assert row == pytest.approx(np.maximum(hidden, 0) @ scores.readout[:3] + scores.readout[3])
    arrays = (parts, scores.gaps, scores.readout, chosen, between)
    tensor = combination_scores(*(torch.from_numpy(array) for array in arrays))
    assert tensor.numpy() == pytest.approx(found)
    alone = combination_scores(*arrays[:3], np.array([[4]]), np.zeros((1, 0), dtype=int))
    assert alone[0] == pytest.approx(
        np.maximum(parts[4, 0], 0) @ scores.readout[:3] + scores.readout[3]
    )


@pytest.mark.parametrize("seed", range(6))
def test_decoding_takes_what_both_stages_say(seed):
    scores = scores_of(5, 2, seed)
    format = SegmentFormat(LABELS, 2, pair_gap=2, chain_gap=1)
    expected = {}
    for number, label in enumerate(LABELS):
        sets = sets_of(scores, 2, number)
        for chosen in naive.candidates(sorted(sets.best()), 3, 2, 1):
            parts = np.stack([scores.parts[a, b - a] for a, b in chosen])
            between = [[b[0] - a[1] - 1 for a, b in pairwise(chosen)]]
            rows = np.arange(len(chosen))[None]
            between = np.array(between, dtype=int).reshape(1, -1)
            logit = combination_scores(parts, scores.gaps, scores.readout, rows, between)[0, number]
            if logit > 0:
                words = tuple(word for a, b in chosen for word in range(a, b + 1))
                score = np.prod([sets.marginal(span) for span in chosen])
                expected[Mention(words, label)] = score / (1 + np.exp(-logit))
    decoding = decode(format, scores)
    assert decoding.complete
    assert {s.mention: s.score for s in decoding.mentions} == pytest.approx(expected)
    found = [s.score for s in decoding.mentions]
    assert found == sorted(found, reverse=True)
    cooled = decode(format, scores, 3.0)
    assert {s.mention for s in cooled.mentions} == set(expected)
    assert not expected or cooled.mentions != decoding.mentions


def test_400_words_of_which_every_span_is_a_segment_and_every_combination_a_mention():
    scores = scores_of(400, 12, 0, scale=0.0)
    scores.starts[...] = 5.0
    scores.edges[..., Edge.END] = 1.0
    scores.edges[scores.edges == 0.0] = 1.0
    scores.readout[...] = 0.0
    scores.readout[-1] = 1.0
    start = time.monotonic()
    decoding = decode(SegmentFormat(LABELS), scores)
    assert time.monotonic() - start < 30
    assert not decoding.complete
    assert len(decoding.mentions) == 1000
    assert len({s.mention for s in decoding.mentions}) == 1000
