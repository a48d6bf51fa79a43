from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.triplets_naive import naive_candidates, naive_contrastive
from trigner.triplets import ContrastiveLoss, TripletSettings, candidates, collate
from trigner.triplets import batch as batches

CLEAN = TripletSettings()
# (words of the mentions, words of the sentence)
SENTENCES = [
    ([(0, 1, 3), (2,)], 6),
    ([], 4),
    ([(0,)], 1),
    ([(1, 2, 5), (2, 3), (0, 6)], 8),
]


def batch_of():
    return collate([candidates(mentions, length, CLEAN) for mentions, length in SENTENCES])


@settings(max_examples=30)
@given(
    st.sampled_from([0.05, 0.1, 1.0]),
    st.sampled_from([1, 3, 64]),
    st.sampled_from([16, 1 << 22]),
    st.integers(0, 2**16),
)
def test_values_and_gradients_of_the_definition(temperature, width, block, seed):
    random = torch.Generator().manual_seed(seed)
    grid = torch.randn(len(SENTENCES), 10, 10, width, generator=random).double().requires_grad_()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "BLOCK", block)
        batch = batch_of()
    states = grid[batch.sentences, batch.rows, batch.columns]
    ours = ContrastiveLoss(temperature)(states, batch)
    found = [naive_candidates(mentions, length, CLEAN) for mentions, length in SENTENCES]
    expected = naive_contrastive(list(grid), found, temperature)
    torch.testing.assert_close(ours, expected)
    (own,) = torch.autograd.grad(ours, grid)
    (naive,) = torch.autograd.grad(expected, grid)
    torch.testing.assert_close(own, naive)


def test_two_cells_by_hand():
    """Equal to the positive, opposite to the negative: -log(e / (e + 1/e))."""
    batch = collate([candidates([(0, 1)], 2, CLEAN)])
    states = torch.ones(len(batch.rows), 2)
    negative = next(mask for _, mask in batch.masks())[0]
    states[negative] = -1
    assert negative.sum() == 1
    expected = torch.log1p(torch.tensor(-2.0).exp())
    torch.testing.assert_close(ContrastiveLoss(1.0)(states, batch), expected)


def test_without_anchors_it_is_0_and_keeps_the_graph():
    batch = collate([candidates([], 4, CLEAN)] * 2)
    states = torch.zeros(len(batch.rows), 3, requires_grad=True)
    loss = ContrastiveLoss()(states, batch)
    loss.backward()
    assert loss == 0


def test_half_precision_is_computed_in_float32():
    batch = batch_of()
    states = torch.randn(len(batch.rows), 16).bfloat16().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        loss = ContrastiveLoss()(states, batch)
    assert loss.dtype == torch.float32
    assert loss == ContrastiveLoss()(states.detach().float(), batch)
    loss.backward()
    assert states.grad.dtype == torch.bfloat16
