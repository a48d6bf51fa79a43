"""Pairs of word states -> `H^bi` -> tag scores: the biaffine branch of TriG-NER's co-predictor.

`H^bi[i, j] = x_i W x_j` with a constant 1 appended to both words goes straight into a linear layer
(paper, section 3). Only linear algebra lies between, so the layer is folded into `W`:
`Y^bi[c] = x (sum_o L[c, o] W[o]) x`, and the grid of `H^bi` is never built. `states_at` gives
`H^bi` at chosen cells only.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn

from trigner.families.tagging.network_settings import PairMapKind
from trigner.families.tagging.tag_weights import TagWeights, output_weights


class PairMap(Protocol):
    """Word states `[B, L, D]` to tag scores, and `H^bi` at cells, of `size` features."""

    size: int

    def __call__(self, states: Tensor) -> Tensor:
        """Scores `[B, C, L, L]`."""
        ...

    def states_at(self, states: Tensor, sentences: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        """`H^bi [N, size]` of the cells `(sentences, rows, columns)`, each `[N]`."""
        ...

    def tag_weights(self, start: int) -> list[TagWeights]:
        """Weights of single tags, `start` that of the first."""
        ...


def with_one(states: Tensor) -> Tensor:
    """A constant 1 behind the features: `[..., D + 1]`."""
    return torch.cat([states, torch.ones_like(states[..., :1])], dim=-1)


def trilinear(left: Tensor, weight: Tensor, right: Tensor) -> Tensor:
    """`left_i weight[c] right_j` for all pairs: `[B, C, L, L]` from `[B, L, D]`, `[C, D, D]`."""
    return torch.matmul(torch.matmul(left[:, None], weight), right[:, None].transpose(2, 3))


class FullPairMap(nn.Module):
    """The released code's map: `W [size, D + 1, D + 1]`, 134.7 M weights at 512."""

    def __init__(self, *, input_size: int, size: int, classes: int) -> None:
        super().__init__()
        self.size = size
        self.weight = nn.Parameter(torch.empty(size, input_size + 1, input_size + 1))
        self.output = nn.Linear(size, classes)
        nn.init.xavier_normal_(self.weight)

    def forward(self, states: Tensor) -> Tensor:
        words = with_one(states)
        folded = (self.output.weight @ self.weight.flatten(1)).unflatten(1, self.weight.shape[1:])
        return trilinear(words, folded, words) + self.output.bias[:, None, None]

    def states_at(self, states: Tensor, sentences: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        words = with_one(states)
        # One slice of outputs at a time: its whole grid is small, and far cheaper than what each
        # cell would take on its own, as each word stands in many cells.
        slices = []
        for weight in self.weight.split(16):
            mapped = torch.einsum("bid,ode->boie", words, weight)
            grid = torch.matmul(mapped, words[:, None].transpose(2, 3))
            slices.append(grid[sentences, :, rows, columns])
        return torch.cat(slices, dim=1)

    def tag_weights(self, start: int) -> list[TagWeights]:
        return output_weights(self.output, start)


class LowRankPairMap(nn.Module):
    """`H^bi[i, j] = U x_i * V x_j` of `rank` features, then the linear layer.

    Word states are normalised first: the product of two small projections of small states would
    learn tens of times slower than the full map does (`research/decisions/pair-map.md`).
    """

    def __init__(self, *, input_size: int, rank: int, classes: int) -> None:
        super().__init__()
        self.size = rank
        self.norm = nn.LayerNorm(input_size)
        self.left = nn.Linear(input_size, rank)
        self.right = nn.Linear(input_size, rank)
        self.output = nn.Linear(rank, classes)

    def forward(self, states: Tensor) -> Tensor:
        states = self.norm(states)
        weighted = self.output.weight[:, None] * self.left(states)[:, None]
        pairs = torch.matmul(weighted, self.right(states)[:, None].transpose(2, 3))
        return pairs + self.output.bias[:, None, None]

    def states_at(self, states: Tensor, sentences: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        states = self.norm(states)
        return self.left(states)[sentences, rows] * self.right(states)[sentences, columns]

    def tag_weights(self, start: int) -> list[TagWeights]:
        return output_weights(self.output, start)


def pair_map(kind: PairMapKind, *, input_size: int, size: int, classes: int) -> PairMap:
    """The pair map called `kind`; `size` is the width of `H^bi` (the rank of a low-rank map)."""
    if kind == "full":
        return FullPairMap(input_size=input_size, size=size, classes=classes)
    return LowRankPairMap(input_size=input_size, rank=size, classes=classes)
