"""The span network as the article writes it: a vector for each span and for each pair of spans."""

from __future__ import annotations

import math

import torch


def scores(network, words):
    """Scores of one sentence from its word states `[L, S]`.

    Of each span: types and pruning; the spans kept; of each ordered pair of these, relations.
    """
    length, reach = len(words), network.width.num_embeddings
    spans = [(a, b) for a in range(length) for b in range(a, min(length, a + reach))]
    vectors = {
        (a, b): torch.cat([words[a], words[b], network.width.weight[b - a]]) for a, b in spans
    }
    pruning = {span: feed_forward(network.pruner, vectors[span])[0] for span in spans}
    count = math.ceil(length * network.kept)
    kept = sorted(spans, key=lambda span: -float(pruning[span]))[:count]

    def relate():
        found = {}
        for a in kept:
            for b in kept:
                pair = torch.cat([vectors[a], vectors[b], vectors[a] * vectors[b]])
                found[a, b] = feed_forward(network.relations, pair)
                if network.pruned_by_relations:
                    found[a, b] = found[a, b] + pruning[a] + pruning[b]
        return found

    relations = relate()
    for _ in range(network.rounds):
        layer = network.propagation
        updated = {}
        for a in kept:
            read = torch.zeros_like(vectors[a])
            for b in kept:
                if a != b:
                    read = read + (relations[a, b].relu() @ layer.relations) * vectors[b]
            gate = layer.gate(torch.cat([vectors[a], read])).sigmoid()
            updated[a] = gate * vectors[a] + (1 - gate) * read
        vectors.update(updated)
        relations = relate()
    fragments = {span: feed_forward(network.fragments, vectors[span]) for span in spans}
    return fragments, pruning, kept, relations


def feed_forward(scorer, vector):
    return scorer.output(scorer.hidden(vector).relu())
