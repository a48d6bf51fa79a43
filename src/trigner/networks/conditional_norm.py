"""Conditional layer norm of pairs of words: one word's features, normalised, read under another."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from trigner.networks.pair_products import pair_products

EPSILON = 1e-12


class ConditionalNorm(nn.Module):
    """The column's word is normalised; the row's word gives it scale and shift.

    With `squared` it is divided by the square of the variance in place of its root: a mistake of
    MAC's released code that its published numbers were obtained with.
    """

    def __init__(self, *, size: int, squared: bool = False) -> None:
        super().__init__()
        self.squared = squared
        self.scale = nn.Linear(size, size)
        self.shift = nn.Linear(size, size)
        # At the start it is a plain layer norm.
        nn.init.zeros_(self.scale.weight)
        nn.init.zeros_(self.shift.weight)
        nn.init.ones_(self.scale.bias)
        nn.init.zeros_(self.shift.bias)

    def forward(self, states: Tensor, weight: Tensor, lengths: Tensor) -> Tensor:
        """All pairs times `weight [C, size]`, `[B, C, L, L]`, from word states `[B, L, size]`.

        The pairs' own features, `[B, L, L, size]`, never exist. Cells in padding are meaningless.
        """
        pairs = pair_products(weight[None], self.scale(states), self._normal(states), lengths)
        return pairs + (weight @ self.shift(states).transpose(1, 2))[..., None]

    def states_at(self, states: Tensor, sentences: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        """Features `[N, size]` of the pairs `(sentences, rows, columns)`, `[N]` each."""
        conditions = states[sentences, rows]
        normal = self._normal(states)[sentences, columns]
        return self.scale(conditions) * normal + self.shift(conditions)

    def _normal(self, states: Tensor) -> Tensor:
        if not self.squared:
            return functional.layer_norm(states, states.shape[-1:], eps=EPSILON)
        centred = states - states.mean(dim=-1, keepdim=True)
        variance = torch.square(centred).mean(dim=-1, keepdim=True)
        return centred / torch.square(variance + EPSILON)
