"""Conditional layer norm of pairs of words: one word's features, normalised, read under the other.

W2NER, section 4, item 5.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from trigner.families.tagging.network_settings import Normalised
from trigner.networks import pair_products

EPSILON = 1e-12


class ConditionalNorm(nn.Module):
    """The `normalised` word of a pair is normalised; the other one gives it scale and shift.

    With `squared` it is divided by the square of the variance in place of its root: a mistake of
    MAC's released code that its published numbers were obtained with.
    """

    def __init__(self, *, size: int, normalised: Normalised, squared: bool = False) -> None:
        super().__init__()
        self.normalised = normalised
        self.squared = squared
        self.scale = nn.Linear(size, size)
        self.shift = nn.Linear(size, size)
        # At the start it is a plain layer norm (W2NER's initialisation).
        nn.init.zeros_(self.scale.weight)
        nn.init.zeros_(self.shift.weight)
        nn.init.ones_(self.scale.bias)
        nn.init.zeros_(self.shift.bias)

    def forward(self, rows: Tensor, columns: Tensor, weight: Tensor, lengths: Tensor) -> Tensor:
        """All pairs times `weight [B or 1, C, size]`: `[B, C, L, L]`.

        `rows`, `columns [B, L, size]` are the states of first and second words. The pairs' own
        features, `[B, L, L, size]`, never exist. Cells in padding are meaningless.
        """
        by_row = self.normalised == "row"
        words, conditions = (rows, columns) if by_row else (columns, rows)
        pairs = pair_products(weight, self._normal(words), self.scale(conditions), lengths)
        pairs = pairs + (weight @ self.shift(conditions).transpose(1, 2))[:, :, None]
        return pairs if by_row else pairs.transpose(2, 3)

    def states_at(self, states: Tensor, sentences: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        """Features `[N, size]` of the pairs `(sentences, rows, columns)`, `[N]` each."""
        by_row = self.normalised == "row"
        words, conditions = (rows, columns) if by_row else (columns, rows)
        given = states[sentences, conditions]
        return self.scale(given) * self._normal(states)[sentences, words] + self.shift(given)

    def _normal(self, states: Tensor) -> Tensor:
        if not self.squared:
            return functional.layer_norm(states, states.shape[-1:], eps=EPSILON)
        centred = states - states.mean(dim=-1, keepdim=True)
        variance = torch.square(centred).mean(dim=-1, keepdim=True)
        return centred / torch.square(variance + EPSILON)
