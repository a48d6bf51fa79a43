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
from trigner.training.processes import ALONE, Processes
from trigner.training.weighting import Collator
from trigner.triplets import TripletLoss

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
    "triplets.weight=0",
]
LENGTHS = (2, 9, 5, 3, 14, 2)
# As many triplets as pairs of anchors and positives, or as anchors.
TRIPLETS = ["triplets.weight=1", "triplets.margin=9", "triplets.reduction=mean_all"]
CASES = [
    pytest.param(["system=w2ner"], id="w2ner"),
    pytest.param(["system=toe"], id="toe"),
    pytest.param(["system=bio"], id="bio"),
    *(
        pytest.param([*TRIPLETS, f"triplets.selection={name}"], id=name)
        for name in ("centroid", "negative-centroid", "hard-negative", "semi-hard-or-hard")
    ),
    pytest.param([*TRIPLETS, "triplets.source=projection"], id="projection"),
]


def made(folder, *assignments):
    """A system, its settings, its examples and the batches of two epochs."""
    torch.manual_seed(0)
    encoder = tiny_encoder(folder, "bert", head=False)
    settings = resolve(
        preset="clean",
        assignments=[*SMALL, *assignments],
        options={"encoder": str(encoder)},
        optional=[each.partition("=")[0] for each in SMALL],
    )
    system = system_spec(settings.system).implementation("build")(settings, ("ADR",), None)
    system.network.eval()
    sentences = [
        Sentence(
            "d",
            n,
            ("pain",) * length,
            (),
            (Mention((*range(0, length - 1, 3), length - 1), "ADR"),),
        )
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


@pytest.mark.parametrize("case", CASES)
def test_the_mean_gradient_of_an_epochs_batches_is_that_of_the_mean_over_all_cells(case, tmp_path):
    system, settings, examples, batches = made(tmp_path, *case)

    def losses(weighting):
        optimisation = settings.optimisation.model_copy(update={"batch_weighting": weighting})
        collate = Collator(system, examples, batches, optimisation)
        members = [[examples[i] for i in batch] for batch in epochs_of(batches)]
        return [system.loss(**collate(own)["batch"]).total for own in members]

    whole = gradient(system, [system.loss(weights={}, **system.collate(examples)).total])
    found = gradient(system, losses("cells"))
    torch.testing.assert_close(found, whole, rtol=1e-3, atol=1e-6)
    equal = gradient(system, losses("equal"))
    assert (equal - whole).abs().max() > 1e-3


@pytest.mark.parametrize("weighting", ["cells", "equal"])
def test_the_shares_of_several_processes_have_the_gradient_of_the_batch(weighting, tmp_path):
    system, settings, examples, batches = made(tmp_path)
    optimisation = settings.optimisation.model_copy(update={"batch_weighting": weighting})

    def loss(members, processes):
        found = Collator(system, examples, batches, optimisation, processes)(members)
        return found.get("factor", 1) * system.loss(**found["batch"]).total

    for batch in ([0, 1, 4], [2, 3, 4, 5], [1]):
        members = [examples[i] for i in batch]
        whole = gradient(system, [loss(members, ALONE)])
        shares = gradient(system, [loss(members, Processes(2, index)) for index in range(2)])
        torch.testing.assert_close(shares, whole, rtol=1e-3, atol=1e-6)


def test_equal_weighting_leaves_each_batch_its_mean(tmp_path):
    system, settings, examples, batches = made(tmp_path)
    optimisation = settings.optimisation.model_copy(update={"batch_weighting": "equal"})
    collate = Collator(system, examples, batches, optimisation)
    assert collate(examples)["batch"]["weights"] == {}


@pytest.mark.parametrize("selection", ["centroid", "negative-centroid"])
def test_triplets_weigh_by_their_number(selection, tmp_path):
    chosen = ["optimisation.batch_weighting=cells", f"triplets.selection={selection}"]
    system, settings, examples, batches = made(tmp_path, "triplets.weight=1", *chosen)
    collate = Collator(system, examples, batches, settings.optimisation)
    factors, counts = [], []
    for batch in epochs_of(batches):
        inputs = collate([examples[i] for i in batch])["batch"]
        factors.append(inputs["weights"]["triplets"])
        states = torch.zeros(len(inputs["candidates"].rows), 3)
        counts.append(int(TripletLoss(selection)(states, inputs["candidates"]).triplets))
    np.testing.assert_allclose(factors, np.array(counts) / np.mean(counts))


@pytest.mark.parametrize(("reduction", "factor"), [("mean_violating", 3.0), ("sum", 1.0)])
def test_the_sum_of_triplets_counts_each_alike_already(reduction, factor, tmp_path):
    system, _, examples, _ = made(tmp_path, "triplets.weight=1", f"triplets.reduction={reduction}")
    inputs = system.collate(examples)
    plain = system.loss(weights={}, **inputs)
    weighted = system.loss(weights={"triplets": 3.0}, **inputs)
    torch.testing.assert_close(
        weighted.total - plain.total, (factor - 1) * plain.parts["loss_triplets"]
    )
