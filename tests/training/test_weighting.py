"""Cells count alike whichever batches they are in."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tiny_encoders import tiny_encoder
from trigner.mentions import Mention, Sentence
from trigner.systems import system_spec
from trigner.systems.sections import OptimisationSettings
from trigner.training import resolve
from trigner.training.data import EpochBatches
from trigner.training.weighting import Collator, counted
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


@given(st.lists(st.integers(1, 40), min_size=12, max_size=60), st.integers(0, 99))
def test_an_example_counts_about_what_it_is_of_random_batches(lengths, seed):
    random = Random(seed)
    sizes = [length**2 for length in lengths]
    settings = OptimisationSettings(batch_size=4, cell_budget=None)
    batches = EpochBatches(lengths, settings, seed=1, epochs=1)
    members = {i for batch in batches for i in batch}
    own = [size if i in members else 0 for i, size in enumerate(sizes)]
    counts = counted(np.array(own, float), batches, "random", 4).tolist()
    assert all(0 <= count <= 1 for count in counts)
    assert sorted(counts) == [counts[i] for i in sorted(range(len(own)), key=own.__getitem__)]
    chosen = max(members, key=sizes.__getitem__)
    others = [i for i in members if i != chosen]
    mean = np.mean(
        [
            sizes[chosen] / (sizes[chosen] + sum(sizes[i] for i in random.sample(others, 3)))
            for _ in range(300)
        ]
    )
    assert counts[chosen] == pytest.approx(mean, rel=0.35)


def test_sentences_of_one_length_count_alike(tmp_path):
    settings = OptimisationSettings(batch_size=4)
    batches = EpochBatches([5] * 12, settings, seed=1, epochs=1)
    assert len({round(c, 9) for c in counted(np.full(12, 25.0), batches, "random", 4)}) == 1
    assert counted(np.full(12, 25.0), batches, "random", 4)[0] == pytest.approx(1 / 4)


def test_a_sentence_without_a_size_counts_nothing():
    batches = EpochBatches([5, 5], OptimisationSettings(batch_size=1), seed=1, epochs=1)
    assert counted(np.array([0.0, 25.0]), batches, "random", 1).tolist() == [0, 1]


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
