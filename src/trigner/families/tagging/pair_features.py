"""Word states -> features of word pairs: conditional layer norm, distance and region, convolved.

W2NER section 4, items 5 to 7, computed folded. The first layer of the convolution block is linear
over the channels [distance, region, conditional layer norm], so its weights are applied before the
pair grid is built: distance and region become one small table, the conditional layer norm
a bilinear form of the two words. The `[B, L, L, d_h + 40]` tensor of the straightforward
formulation never exists; values, gradients and dropout masks are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from trigner.batches import geometry
from trigner.families.tagging.conditional_norm import ConditionalNorm
from trigner.families.tagging.network_settings import Normalised
from trigner.networks import DepthwiseConvolution


class PairFeatures(nn.Module):
    """`Q [B, n * channels, L, L]`: each pair of words seen with its neighbourhood.

    `normalised` says which word of a pair is normalised; the other conditions scale and shift
    (released code: row; article: column). `mask_between` zeroes padding inside the block too,
    without which a sentence's borders depend on its batch. `chained` dilations read each other's
    output (code), else all read the first layer's (article).
    """

    distance_of_offset: Tensor
    region_of_distance: Tensor

    def __init__(
        self,
        *,
        size: int,
        distance_size: int = 20,
        region_size: int = 20,
        channels: int = 80,
        dilations: Sequence[int] = (1, 2, 3),
        dropout: float = 0.5,
        normalised: Normalised = "row",
        chained: bool = True,
        mask_between: bool = True,
    ) -> None:
        super().__init__()
        self.chained = chained
        self.mask_between = mask_between
        self.dropout = dropout
        self.out_channels = channels * len(dilations)
        self.distance = nn.Embedding(geometry.DISTANCES, distance_size)
        self.region = nn.Embedding(geometry.REGIONS, region_size)
        self.norm = ConditionalNorm(size=size, normalised=normalised)
        self.reduce = nn.Linear(distance_size + region_size + size, channels)
        self.convolutions = nn.ModuleList(DepthwiseConvolution(channels, d) for d in dilations)
        for name in ("distance_of_offset", "region_of_distance"):
            table = torch.from_numpy(getattr(geometry, name)())
            self.register_buffer(name, table, persistent=False)

    def forward(self, states: Tensor, mask: Tensor, columns: Tensor | None = None) -> Tensor:
        """From word states `[B, L, size]` and the valid cells `[B, L, L]`; zero in padding.

        `columns [B, L, size]` are the states of a pair's second word where they differ from those
        of its first.
        """
        valid = mask[:, None].to(states.dtype)
        columns = states if columns is None else columns
        reduced = self._reduced(states, columns, mask[:, 0].sum(-1))
        bias = self.reduce.bias[:, None, None]
        grid = (reduced + bias) * valid if self.mask_between else reduced * valid + bias
        grid = functional.gelu(grid)
        outputs = []
        first = grid
        for convolution in self.convolutions:
            grid = functional.gelu(convolution(grid if self.chained else first))
            if self.mask_between:
                grid = grid * valid
            outputs.append(grid)
        features = torch.cat(outputs, dim=1)
        return features if self.mask_between else features * valid

    def _reduced(self, rows: Tensor, columns: Tensor, lengths: Tensor) -> Tensor:
        """First layer of the block without its bias, `[B, channels, L, L]`, at valid cells."""
        batch, length, size = rows.shape
        weight = self.reduce.weight[None]
        if self.training:
            # A mask a sentence and input channel: what dropout of whole channels does to the grid.
            ones = rows.new_ones(batch, self.reduce.in_features, 1, 1)
            weight = weight * functional.dropout2d(ones, self.dropout).flatten(1)[:, None]
        split = [self.distance.embedding_dim, self.region.embedding_dim, size]
        on_distance, on_region, on_states = weight.split(split, dim=2)
        table = self.distance.weight @ on_distance.transpose(1, 2)
        table = table + self.region.weight[self.region_of_distance] @ on_region.transpose(1, 2)
        distances = self.distance_of_offset[self._offsets(length)]
        # In memory channels come last from here on: the order in which convolutions are fastest.
        placed = table.index_select(1, distances.flatten()).unflatten(1, (length, length))
        return placed.permute(0, 3, 1, 2) + self.norm(rows, columns, on_states, lengths)

    def _offsets(self, length: int) -> Tensor:
        """Row minus column of each cell `[L, L]`, as places in `distance_of_offset`."""
        positions = torch.arange(length, device=self.distance_of_offset.device)
        offsets = positions[:, None] - positions
        return offsets.clamp(-geometry.REACH, geometry.REACH) + geometry.REACH
