"""Means over each anchor's positives and negatives, with gradients to all of their cells."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from trigner.triplets.batch import CandidateBatch


def positive_centroids(positives: Tensor, batch: CandidateBatch) -> Tensor:
    """Mean of each anchor's positives, `[A, D]` from the pairs' `[Q, D]`."""
    sums = positives.new_zeros(len(batch.anchors), positives.shape[1])
    sums = sums.index_add(0, batch.pair_anchors, positives)
    return sums / batch.positive_counts.to(positives.dtype)[:, None]


def negative_centroids(states: Tensor, batch: CandidateBatch) -> Tensor:
    """Mean of each anchor's negatives, `[A, D]` from the cells' `[N, D]`."""
    means: Tensor = _MaskedMeans.apply(states, batch)  # type: ignore[no-untyped-call]
    return means


class _MaskedMeans(torch.autograd.Function):
    """Mask times states, block by block. Keeps only the boolean masks for the gradient, where
    ordinary matrix products would keep a float copy of each."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, batch: CandidateBatch) -> Tensor:
        ctx.batch = batch
        ctx.shape = states.shape
        means = states.new_empty(len(batch.anchors), states.shape[1])
        for block, mask in batch.masks():
            means[block.anchors] = mask.to(states.dtype) @ states[block.cells]
        return means.div_(batch.negative_counts[:, None])

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        batch: CandidateBatch = ctx.batch
        shares = gradient / batch.negative_counts.to(gradient.dtype)[:, None]
        to_states = gradient.new_zeros(ctx.shape)
        for block, mask in batch.masks():
            # Several blocks may share the cells of one long sentence.
            to_states[block.cells].addmm_(mask.to(gradient.dtype).T, shares[block.anchors])
        return to_states, None
