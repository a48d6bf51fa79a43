from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from oracles.triplets_naive import naive_candidates, naive_loss, naive_triplets
from trigner.training.settings import resolve
from trigner.triplets import candidates
from trigner.triplets.batch import CandidateBatch, collate
from trigner.triplets.candidates import Candidates
from trigner.triplets.loss import TripletLoss
from trigner.triplets.selection import SELECTIONS
from trigner.triplets.settings import TripletSettings

CLEAN, PAPER = TripletSettings(), resolve(preset="paper").triplets

# (words of the mentions, words of the sentence)
SENTENCES = [
    ([(0, 1, 3), (2,)], 6),
    ([], 4),
    ([(0,)], 1),
    ([(1, 2, 5), (2, 3), (0, 6)], 8),
]


def batch_of(preset=CLEAN) -> CandidateBatch:
    return collate([candidates(mentions, length, preset) for mentions, length in SENTENCES])


def hand_batch() -> tuple[Tensor, CandidateBatch]:
    """Distances to positive and negative: (1, 3), (1, 1.5), (2, 1)."""
    found = Candidates(
        cells=torch.arange(6, dtype=torch.int32).view(3, 2).numpy(),
        anchors=torch.zeros(1, dtype=torch.int32).numpy(),
        positives=torch.tensor([[0, 1]], dtype=torch.int32).numpy(),
        negatives=torch.tensor([[False, False, True]]).numpy(),
    )
    places = [0.0, 1.0, 3.0, 0.0, -1.0, 1.5, 0.0, 2.0, -1.0]
    return torch.tensor(places, requires_grad=True), collate([found] * 3)


@pytest.mark.parametrize(
    ("reduction", "expected"), [("mean_violating", 1.25), ("mean_all", 2.5 / 3), ("sum", 2.5)]
)
@pytest.mark.parametrize("selection", ["hn", "ce", "nc", "sn-hn"])
def test_hand_batch(selection, reduction, expected):
    places, batch = hand_batch()
    result = TripletLoss(selection, 1.0, "euclidean", reduction)(places[:, None], batch)
    assert result.loss.item() == pytest.approx(expected, abs=1e-5)
    assert (result.triplets.item(), result.violating.item()) == (3, 2)


def test_hand_batch_semi_hard_keeps_the_second_only():
    places, batch = hand_batch()
    result = TripletLoss("sn")(places[:, None], batch)
    assert result.loss.item() == pytest.approx(0.5, abs=1e-5)
    assert (result.triplets.item(), result.violating.item()) == (1, 1)
    result.loss.backward()
    assert places.grad[[0, 1, 2, 6, 7, 8]].tolist() == [0] * 6
    assert places.grad[3:6].tolist() == pytest.approx([2, -1, -1], abs=1e-5)


def test_reductions_are_independent_of_sentences_without_triplets():
    batch, longer = batch_of(), collate([candidates(*s, CLEAN) for s in [*SENTENCES, ([], 9)]])
    states = torch.randn(len(batch.rows), 3)
    assert TripletLoss()(states, batch).loss == TripletLoss()(states, longer).loss


@settings(max_examples=60)
@given(
    st.sampled_from(sorted(SELECTIONS)),
    st.sampled_from(["mean_violating", "mean_all", "sum"]),
    st.sampled_from([CLEAN, PAPER]),
    st.sampled_from([0.1, 1.0, 5.0]),
    st.sampled_from([1, 3, 64]),
    st.integers(0, 2**16),
)
def test_values_and_gradients_of_the_definitions(selection, reduction, preset, margin, width, seed):
    random = torch.Generator().manual_seed(seed)
    grid = torch.randn(len(SENTENCES), 10, 10, width, generator=random).double().requires_grad_()
    batch = batch_of(preset)
    loss = TripletLoss(selection, margin, "euclidean", reduction)
    result = loss(grid[batch.sentences, batch.rows, batch.columns], batch)
    (ours,) = torch.autograd.grad(result.loss, grid)

    found = [naive_candidates(mentions, length, preset) for mentions, length in SENTENCES]
    triplets = naive_triplets(list(grid), found, selection, margin)
    expected = naive_loss(triplets, margin, reduction)
    torch.testing.assert_close(result.loss, expected.double())
    assert result.triplets == len(triplets)
    naive = torch.zeros_like(grid)
    if expected.requires_grad:
        (naive,) = torch.autograd.grad(expected, grid)
    torch.testing.assert_close(ours, naive)


@pytest.mark.parametrize("reduction", ["mean_violating", "mean_all", "sum"])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_without_triplets_the_loss_is_0_and_keeps_the_graph(selection, reduction):
    logits = torch.randn(2, 6, 6, 3, requires_grad=True)
    batch = collate([candidates([], 4, CLEAN)] * 2)
    states = logits[batch.sentences, batch.rows, batch.columns]
    result = TripletLoss(selection, reduction=reduction)(states, batch)
    assert result.loss == result.triplets == result.violating == 0
    assert result.loss.requires_grad
    result.loss.backward()
    assert torch.equal(logits.grad, torch.zeros_like(logits))


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_equal_vectors_give_finite_gradients(metric, selection):
    batch = batch_of()
    states = torch.ones(len(batch.rows), 3, requires_grad=True)
    result = TripletLoss(selection, metric=metric)(states, batch)
    result.loss.backward()
    assert states.grad.isfinite().all()
    assert result.loss.isfinite()


def test_no_violation_no_gradient():
    batch = collate([candidates([(0, 1, 2)], 6, CLEAN)])
    states = torch.full((len(batch.rows), 3), 100.0)
    states[batch.anchors] = states[batch.pair_cells] = 0.0
    states.requires_grad_()
    result = TripletLoss(margin=0.5)(states, batch)
    result.loss.backward()
    assert (result.loss, result.triplets, result.violating) == (0, 2, 0)
    assert not states.grad.any()


@pytest.mark.parametrize("selection", SELECTIONS)
def test_half_precision_is_computed_in_float32(selection):
    batch = batch_of()
    states = torch.randn(len(batch.rows), 512).bfloat16().requires_grad_()
    loss = TripletLoss(selection)
    with torch.autocast("cpu", torch.bfloat16):
        result = loss(states, batch)
    assert result.loss.dtype == torch.float32
    assert result.loss == loss(states.detach().float(), batch).loss
    result.loss.backward()
    assert states.grad.dtype == torch.bfloat16


def test_cosine_does_not_see_lengths():
    batch = batch_of()
    states = torch.randn(len(batch.rows), 3)
    lengths = torch.rand(len(batch.rows), 1) + 0.5
    # Means do see them, so only where single cells are compared.
    for selection in ("hn", "sn", "sn-hn"):
        loss = TripletLoss(selection, metric="cosine")
        assert loss(states, batch).loss.item() == pytest.approx(
            loss(states * lengths, batch).loss.item(), rel=1e-4
        )


def test_wrong_settings(refused):
    with refused():
        TripletLoss("nearest")
    with refused():
        TripletLoss(metric="manhattan")
    with refused():
        TripletLoss(reduction="mean")
    with refused():
        TripletLoss(margin=0)
