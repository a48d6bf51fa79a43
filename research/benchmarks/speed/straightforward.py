"""TriG-NER's network and loss written plainly from the formulas, every tensor in full.

Word pooling over `[B, L, P, D]`, conditional layer norm `[B, L, L, H]`, the concatenated
`[B, L, L, H + 40]` into the first layer, the biaffine `[B, L, L, 512]` through `W`, triplets anchor
by anchor. Weights are those of a tagger of ours, whose scores it must give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from oracles.pair_grid_naive import distance_id, region_id
from trigner.families.tagging.grid_tagger import GridTagger

Cell = tuple[int, int]
Found = Mapping[Cell, tuple[Sequence[Cell], Sequence[Cell]]]
"""Anchor to (positives, negatives)."""


class Straightforward(nn.Module):
    """The network around the weights of `tagger`, whose pair map must be the full one."""

    def __init__(self, tagger: GridTagger) -> None:
        super().__init__()
        self.tagger = tagger

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, word_subwords: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Logits `[B, L, L, C]` and `H^bi [B, L, L, 512]`."""
        encoder = self.tagger.encoder
        hidden = encoder.model(
            input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=True
        ).hidden_states
        subwords = torch.stack(hidden[-encoder.layers :], dim=-1).mean(-1)
        states = self._in_context(self._words(subwords, word_subwords), lengths)
        positions = torch.arange(states.shape[1])
        inside = positions < lengths[:, None]
        features = self._pair_features(states, inside[:, :, None] & inside[:, None])
        pairs = self._biaffine(states)
        branch: nn.Module = self.tagger.co_predictor
        return branch.pairs.output(pairs) + self._grid_scores(features), pairs

    def _words(self, subwords: Tensor, word_subwords: Tensor) -> Tensor:
        batch, count, _ = subwords.shape
        length = word_subwords.shape[1]
        owned = torch.zeros(batch, length, count + 1, dtype=torch.bool)
        owned.scatter_(2, torch.where(word_subwords < 0, count, word_subwords), True)
        owned = owned[:, :, :-1]
        spread = subwords[:, None].expand(-1, length, -1, -1)
        spread = spread.masked_fill(~owned[..., None], subwords.min().item())
        return spread.max(dim=2).values

    def _in_context(self, words: Tensor, lengths: Tensor) -> Tensor:
        layer = self.tagger.recurrent
        words = functional.dropout(words, layer.dropout.p, self.training)
        packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(
            layer.lstm(packed)[0], batch_first=True, total_length=words.shape[1]
        )
        return states

    def _pair_features(self, states: Tensor, mask: Tensor) -> Tensor:
        layer = self.tagger.features
        mean = states.mean(-1, keepdim=True)
        variance = ((states - mean) ** 2).mean(-1, keepdim=True)
        normal = (states - mean) / (variance + 1e-12).sqrt()
        gamma, beta = layer.norm.scale(states), layer.norm.shift(states)
        norm = gamma[:, None] * normal[:, :, None] + beta[:, None]
        length = states.shape[1]
        distances, regions = (ids * mask for ids in _places(length))
        grid = torch.cat([layer.distance(distances), layer.region(regions), norm], dim=-1)
        valid = mask[:, None].to(grid.dtype)
        grid = grid.permute(0, 3, 1, 2) * valid
        grid = functional.dropout2d(grid, layer.dropout, self.training)
        weight = layer.reduce.weight[:, :, None, None]
        grid = functional.gelu(functional.conv2d(grid, weight, layer.reduce.bias)) * valid
        outputs = []
        for convolution in layer.convolutions:
            (d, _), groups = convolution.dilation, convolution.groups
            kernel, bias = convolution.weight, convolution.bias
            grid = functional.conv2d(grid, kernel, bias, padding=d, dilation=d, groups=groups)
            grid = functional.gelu(grid) * valid
            outputs.append(grid)
        return torch.cat(outputs, dim=1).permute(0, 2, 3, 1)

    def _biaffine(self, states: Tensor) -> Tensor:
        words = torch.cat([states, torch.ones_like(states[..., :1])], dim=-1)
        weight = self.tagger.co_predictor.pairs.weight
        return torch.einsum("bxi,oij,byj->boxy", words, weight, words).permute(0, 2, 3, 1)

    def _grid_scores(self, features: Tensor) -> Tensor:
        layer = self.tagger.co_predictor.grid
        features = functional.dropout(features, layer.dropout.p, self.training)
        hidden = functional.linear(features, layer.hidden.weight.flatten(1), layer.hidden.bias)
        hidden = functional.dropout(functional.gelu(hidden), layer.dropout.p, self.training)
        return functional.linear(hidden, layer.output.weight.flatten(1), layer.output.bias)


@cache
def _places(length: int) -> tuple[Tensor, Tensor]:
    """Distance and region ids `[L, L]`; part of the data, hence made once."""
    words = range(length)
    distances = [[distance_id(row, column) for column in words] for row in words]
    regions = [[region_id(row, column) for column in words] for row in words]
    return torch.tensor(distances), torch.tensor(regions)


def centroid_loss(grids: Tensor, found: Sequence[Found], margin: float = 1.0) -> Tensor:
    """Mean over violating triplets of (anchor, mean positive, mean negative), anchor by anchor.

    `grids [B, L, L, D]` are the cells' vectors, `found` each sentence's candidates.
    """
    anchors, positives, negatives = [], [], []
    for grid, candidates in zip(grids, found, strict=True):
        for anchor, (near, far) in candidates.items():
            if near:
                anchors.append(grid[anchor])
                positives.append(_cells(grid, near).mean(0))
                negatives.append(_cells(grid, far).mean(0))
    if not anchors:
        return grids.sum() * 0
    of_anchors = torch.stack(anchors)
    to_positive = functional.pairwise_distance(of_anchors, torch.stack(positives))
    to_negative = functional.pairwise_distance(of_anchors, torch.stack(negatives))
    hinges = functional.relu(margin + to_positive - to_negative)
    return hinges.sum() / (hinges > 0).sum().clamp(min=1)


def _cells(grid: Tensor, cells: Sequence[Cell]) -> Tensor:
    rows, columns = zip(*cells, strict=True)
    return grid[list(rows), list(columns)]
