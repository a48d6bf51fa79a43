"""Distances between cell vectors: with gradients for the loss, without for the selection."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

# From this width on a matrix product is faster than differences. It needs float64: in float32 it
# cannot tell near cells apart.
_WIDE = 48
_CELLS_AT_ONCE = 8192


class Metric(Protocol):
    """A distance function, in two forms."""

    def pairwise(self, left: Tensor, right: Tensor) -> Tensor:
        """Distances of corresponding rows, `[T]` from two `[T, D]`. Differentiable."""
        ...

    def matrix(self, left: Tensor, right: Tensor) -> Tensor:
        """Distances of all pairs of rows: `[A, C]` from `[A, D]`, `[C, D]`. Without gradient."""
        ...


class Euclidean:
    """`pairwise` adds 1e-6 to each difference, as PyTorch's triplet margin loss does."""

    def pairwise(self, left: Tensor, right: Tensor) -> Tensor:
        return functional.pairwise_distance(left, right, p=2.0, eps=1e-6)

    def matrix(self, left: Tensor, right: Tensor) -> Tensor:
        # Apple's GPUs have no float64.
        if left.shape[1] < _WIDE or left.device.type == "mps":
            return torch.cdist(left, right, compute_mode="donot_use_mm_for_euclid_dist")
        wide = left.double()
        own = wide.square().sum(dim=1, keepdim=True)
        parts = []
        for part in right.split(_CELLS_AT_ONCE):
            cells = part.double()
            squares = torch.addmm(cells.square().sum(dim=1), wide, cells.T, alpha=-2).add_(own)
            parts.append(squares.clamp_(min=0).sqrt_().to(left.dtype))
        return torch.cat(parts, dim=1)


class Cosine:
    """One minus the cosine similarity, from 0 to 2. Ours; the paper has no such distance."""

    def pairwise(self, left: Tensor, right: Tensor) -> Tensor:
        return 1 - functional.cosine_similarity(left, right, dim=1)

    def matrix(self, left: Tensor, right: Tensor) -> Tensor:
        return 1 - functional.normalize(left) @ functional.normalize(right).T


METRICS: dict[str, Metric] = {
    "euclidean": Euclidean(),
    "cosine": Cosine(),
}
"""Metrics by their names in settings."""
