"""Cells count alike whichever batches they are in."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tiny_encoders import tiny_encoder
from trigner.mentions import Mention, Sentence
from trigner.systems import system_spec
from trigner.training import resolve
from trigner.training.data import EpochBatches
from trigner.training.weighting import Collator

SMALL = [
    "model.lstm_size=8",
    "model.distance_size=3",
    "model.region_size=3",
    "model.channels=4",
    "model.pair_size=6",
    "model.grid_size=5",
    "optimisation.batch_size=2",
    "optimisation.epochs=2",
    "optimisation.bias_init=false",
]
LENGTHS = (2, 9, 5, 3, 14, 2)


def made(folder, *assignments):
    """A system, its settings, its examples and the batches of two epochs."""
    torch.manual_seed(0)
    encoder = tiny_encoder(folder, "bert", head=False)
    settings = resolve(
        preset="clean",
        assignments=assignments,
        options={"encoder": str(encoder)},
        shared=[*SMALL, "triplets.weight=0"],
    )
    system = system_spec(settings.system).implementation("build")(settings, ("ADR",), None)
    system.network.eval()
    sentences = [
        Sentence("d", n, ("pain",) * length, (), (Mention((0, length - 1), "ADR"),))
        for n, length in enumerate(LENGTHS)
    ]
    examples = system.prepare(sentences).inputs
    sizes = [example.size for example in examples]
    batches = EpochBatches(sizes, settings.optimisation, seed=1, epochs=2)
    return system, settings, examples, batches


def epochs_of(batches):
    for epoch in range(2):
        batches.epoch = epoch
        yield from batches


def gradient(system, losses):
    system.network.zero_grad()
    (sum(losses) / len(losses)).backward()
    return torch.cat([p.grad.flatten() for p in system.network.parameters() if p.grad is not None])


@pytest.mark.parametrize("name", ["w2ner", "toe", "bio"])
def test_the_mean_gradient_of_an_epochs_batches_is_that_of_the_mean_over_all_cells(name, tmp_path):
    system, settings, examples, batches = made(tmp_path, f"system={name}")

    def losses(weighting):
        optimisation = settings.optimisation.model_copy(update={"batch_weighting": weighting})
        collate = Collator(system, examples, batches, optimisation)
        members = [[examples[i] for i in batch] for batch in epochs_of(batches)]
        return [system.loss(**collate(own)).total for own in members]

    whole = gradient(system, [system.loss(weights={}, **system.collate(examples)).total])
    found = gradient(system, losses("cells"))
    torch.testing.assert_close(found, whole, rtol=1e-3, atol=1e-6)
    equal = gradient(system, losses("equal"))
    assert (equal - whole).abs().max() > 1e-3


def test_equal_weighting_leaves_each_batch_its_mean(tmp_path):
    system, settings, examples, batches = made(tmp_path)
    optimisation = settings.optimisation.model_copy(update={"batch_weighting": "equal"})
    assert Collator(system, examples, batches, optimisation)(examples)["weights"] == {}


def test_triplets_weigh_by_their_anchors(tmp_path):
    system, settings, examples, batches = made(tmp_path, "triplets.weight=1")
    collate = Collator(system, examples, batches, settings.optimisation)
    factors, anchors = [], []
    for batch in epochs_of(batches):
        inputs = collate([examples[i] for i in batch])
        factors.append(inputs["weights"]["anchors"])
        anchors.append(len(inputs["candidates"].anchors))
    np.testing.assert_allclose(factors, np.array(anchors) / np.mean(anchors))


@pytest.mark.parametrize(("reduction", "factor"), [("mean_violating", 3.0), ("sum", 1.0)])
def test_the_sum_of_triplets_counts_each_alike_already(reduction, factor, tmp_path):
    system, _, examples, _ = made(tmp_path, "triplets.weight=1", f"triplets.reduction={reduction}")
    inputs = system.collate(examples)
    plain = system.loss(weights={}, **inputs)
    weighted = system.loss(weights={"anchors": 3.0}, **inputs)
    torch.testing.assert_close(
        weighted.total - plain.total, (factor - 1) * plain.parts["loss_triplets"]
    )
