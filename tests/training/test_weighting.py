"""Cells count alike whichever batches they are in."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from trigner.training.objective import Objective
from trigner.training.task_losses import task_loss

from tiny_encoders import tiny_encoder
from trigner.batches import Example, Window
from trigner.mentions import Mention
from trigner.networks import NetworkSettings, create
from trigner.training.data import EpochBatches, collator
from trigner.training.settings import OptimisationSettings, TaskSettings
from trigner.training.weighting import BatchWeighting, batch_weighting
from trigner.triplets import TripletSettings

SMALL = NetworkSettings(
    lstm_size=8,
    distance_size=3,
    region_size=3,
    channels=4,
    pair_size=6,
    grid_size=5,
)
LENGTHS = (2, 9, 5, 3, 14, 2)


def model_of(scheme, folder, special_words=False):
    torch.manual_seed(0)
    encoder = tiny_encoder(folder, "bert", head=False)
    network = SMALL.model_copy(update={"special_words": special_words})
    made = create(str(encoder), scheme, ("ADR",), network)
    made.tagger.eval()
    return made


def examples_of(model):
    words = [["pain"] * length for length in LENGTHS]
    return [
        Example(n, Window(0, len(w), 0, len(w)), subwords, (Mention((0, len(w) - 1), "ADR"),))
        for n, (w, subwords) in enumerate(zip(words, model.subwords(words), strict=True))
    ]


def gradient(model, losses):
    model.tagger.zero_grad()
    (sum(losses) / len(losses)).backward()
    return torch.cat([p.grad.flatten() for p in model.tagger.parameters() if p.grad is not None])


@pytest.mark.parametrize("scheme", ["w2ner", "bio"])
def test_an_epochs_gradient_is_that_of_the_mean_over_all_cells(scheme, tmp_path):
    model = model_of(scheme, tmp_path)
    examples = examples_of(model)
    settings = OptimisationSettings(batch_size=2, epochs=1)
    batches = EpochBatches(LENGTHS, settings, seed=1, epochs=1)
    objective = Objective(
        model.tagger, task_loss(model.scheme, TaskSettings()), TripletSettings(weight=0)
    )

    def losses(weighting):
        together = collator(model, None, weighting)
        return [objective(**together([examples[i] for i in batch])) for batch in batches]

    weighting = batch_weighting(model, examples, settings, None, batches.mean_sum)
    whole = gradient(model, [objective(**collator(model, None)(examples))])
    torch.testing.assert_close(gradient(model, losses(weighting)), whole, rtol=1e-4, atol=1e-7)
    equal = gradient(model, losses(BatchWeighting()))
    assert (equal - whole).abs().max() > 1e-3


def test_equal_weighting_leaves_each_batch_its_mean(tmp_path):
    model = model_of("w2ner", tmp_path)
    settings = OptimisationSettings(batch_weighting="equal")
    weighting = batch_weighting(model, examples_of(model), settings, TripletSettings(), sum)
    assert weighting == BatchWeighting()
    inputs = collator(model, None, weighting)(examples_of(model))
    assert inputs["weight"] == 1.0


def test_triplets_weigh_by_their_anchors(tmp_path):
    model = model_of("w2ner", tmp_path, special_words=True)
    examples = examples_of(model)
    settings = OptimisationSettings(batch_size=2, epochs=2)
    batches = EpochBatches(LENGTHS, settings, seed=1, epochs=2)
    mined = TripletSettings()
    weighting = batch_weighting(model, examples, settings, mined, batches.mean_sum)
    together = collator(model, mined, weighting)
    factors, anchors = [], []
    for epoch in range(2):
        batches.epoch = epoch
        for batch in batches:
            inputs = together([examples[i] for i in batch])
            factors.append(inputs["triplet_weight"])
            anchors.append(len(inputs["candidates"].anchors))
    np.testing.assert_allclose(factors, np.array(anchors) / np.mean(anchors))


def test_a_training_without_any_anchor_has_no_factor():
    assert BatchWeighting(cells=10.0, anchors=0.0).of_anchors(0) == 1.0


@pytest.mark.parametrize(("reduction", "factor"), [("mean_violating", 3.0), ("sum", 1.0)])
def test_the_sum_of_triplets_counts_each_alike_already(reduction, factor, tmp_path):
    model = model_of("w2ner", tmp_path, special_words=True)
    inputs = collator(model, TripletSettings())(examples_of(model))
    objective = Objective(
        model.tagger,
        task_loss(model.scheme, TaskSettings()),
        TripletSettings(weight=1, reduction=reduction),
    )
    plain = objective(**inputs)
    triplets = objective.parts["loss_triplets"]
    weighted = objective(**{**inputs, "triplet_weight": 3.0})
    torch.testing.assert_close(weighted - plain, (factor - 1) * triplets)
