from __future__ import annotations

import pytest
import torch

from oracles import span_network_naive
from trigner.families.core.word_network import evaluating
from trigner.families.spans.network import kept_of
from trigner.mentions import Sentence

TEXTS = ["my left leg hurt .", "pain", "no pain in arm , numb after the tablet"]


def batch_of(system, texts):
    sentences = []
    for number, text in enumerate(texts):
        words = tuple(text.split())
        sentences.append(Sentence("d", number, words, tuple((0, 0) for _ in words)))
    return system.tensors(system.prepare(sentences).inputs)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"max_width": 3, "kept": 1.0},
        {"pruning": "relations", "propagation": 2},
        {"propagation": 0},
    ],
)
def test_as_the_article_writes_it(make, changes):
    system = make(**{"max_width": 4, **changes})
    network = system.spans
    batch = batch_of(system, TEXTS)
    with evaluating(network):
        output = network(**batch)
        words, _ = network.word_states(**batch)
    reach = network.width.num_embeddings
    for row, length in enumerate(batch["lengths"].tolist()):
        with torch.inference_mode():
            fragments, pruning, kept, relations = span_network_naive.scores(
                network, words[row, :length]
            )
        own = [(n // reach, n // reach + n % reach) for n in output.kept[row].tolist() if n >= 0]
        assert own == kept
        for (a, b), expected in fragments.items():
            torch.testing.assert_close(output.fragments[row, a, b - a], expected)
            torch.testing.assert_close(output.pruning[row, a, b - a], pruning[a, b])
        for i, a in enumerate(kept):
            for j, b in enumerate(kept):
                torch.testing.assert_close(output.relations[row, i, j], relations[a, b])


def test_how_many_spans_are_kept():
    assert [kept_of(length, 0.5) for length in (1, 2, 3, 400)] == [1, 1, 2, 200]
    assert kept_of(torch.tensor([1, 7]), 0.29).tolist() == [1, 3]
    assert kept_of(10, 0.001) == 1


def test_those_that_are_always_kept_come_first(make):
    system = make(max_width=4)
    batch = batch_of(system, TEXTS)
    always = torch.zeros(3, 9, 4, dtype=torch.bool)
    always[0, 1, 2] = always[2, 8, 0] = always[2, 8, 3] = True  # the last is no span
    with evaluating(system.spans):
        kept = system.spans(**batch, always=always).kept
    assert kept[0, 0] == 1 * 4 + 2
    assert kept[2, 0] == 8 * 4
    assert 8 * 4 + 3 not in kept[2]
    assert (kept[1] == -1).sum() == 4


def test_of_more_that_are_always_kept_than_can_be_the_best_are_whatever_the_padding(make):
    system = make(max_width=2, kept=0.25)
    always = torch.zeros(3, 9, 2, dtype=torch.bool)
    always[:, :, 0] = True
    lengths = [len(text.split()) for text in TEXTS]
    with evaluating(system.spans):
        output = system.spans(**batch_of(system, TEXTS), always=always)
        alone = system.spans(**batch_of(system, TEXTS[:1]), always=always[:1, : lengths[0]])
    for row, length in enumerate(lengths):
        ranked = output.pruning[row, :length, 0].argsort(descending=True).tolist()
        expected = [2 * word for word in ranked[: kept_of(length, 0.25)]]
        assert output.kept[row, : len(expected)].tolist() == expected
    assert alone.kept[0].tolist() == output.kept[0, : alone.kept.shape[1]].tolist()


def test_gradients_reach_every_part(make):
    system = make()
    network = system.spans
    batch = batch_of(system, TEXTS)
    output = network.train()(**batch)
    inside = output.kept >= 0
    pairs = inside[:, :, None] & inside[:, None]
    total = output.relations[pairs].square().sum() + output.pruning.square().sum()
    (total + output.fragments.square().sum()).backward()
    lacking = [
        name
        for name, parameter in network.named_parameters()
        if "pooler" not in name and (parameter.grad is None or not parameter.grad.any())
    ]
    assert lacking == []
