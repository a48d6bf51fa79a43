"""Scores of word pairs that go back into the words: TOE's tag representations.

In each round every pair of words gets a table of scores. The largest of each word's row and of its
column are read by attention, over the sentence's other words and over the word states, and added to
what the next round makes its pairs of. Rounds share all parameters.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from trigner.families.tagging.pair_features import PairFeatures
from trigner.networks import PointwiseConvolution

FAR = -1e4
"""Added to the attention on padding. Finite: a sentence without words stays a number."""


class TagEnhancement(nn.Module):
    """Word states to scores of `tags` for each pair, by way of tables of `table_size` scores.

    Source: the released code of TOE. Its article has representations of the tags themselves; the
    code has none but these tables. `table_size` there is the square of the number of tags.
    `mask_padding` keeps padding out of the pooling and of the attention among words; the code does
    not, so that a sentence's scores depend on its batch. With one round nothing goes back, and the
    attention has no use.
    """

    def __init__(
        self,
        *,
        features: PairFeatures,
        size: int,
        tags: int,
        table_size: int = 49,
        rounds: int = 3,
        heads: int = 8,
        feed_forward: int = 2048,
        dropout: float = 0.1,
        mask_padding: bool = True,
    ) -> None:
        super().__init__()
        self.rounds = rounds
        self.mask_padding = mask_padding
        self.row_view = nn.Linear(size, size)
        self.column_view = nn.Linear(size, size)
        self.features = features
        self.table = PointwiseConvolution(features.out_channels, table_size)
        self.from_rows = nn.Linear(table_size, size)
        self.from_columns = nn.Linear(table_size, size)
        self.attention = nn.TransformerDecoderLayer(
            size,
            heads,
            feed_forward,
            dropout,
            activation="gelu",
            layer_norm_eps=1e-12,
            batch_first=True,
        )
        # BERT's layer, which the code uses, drops nothing inside the feed-forward part.
        self.attention.dropout = nn.Dropout(0.0)
        self.output = PointwiseConvolution(table_size, tags)
        for layer in (self.row_view, self.column_view, self.table):
            nn.init.orthogonal_(layer.weight)

    def forward(self, states: Tensor, inside: Tensor) -> Tensor:
        """Scores `[B, tags, L, L]` from `H [B, L, size]` and which words are there, `[B, L]`."""
        cells = inside[:, :, None] & inside[:, None]
        padding = torch.where(inside, 0.0, FAR).to(states.dtype)
        rows, columns = self.row_view(states), self.column_view(states)
        table = self._table(rows, columns, cells)
        for _ in range(self.rounds - 1):
            by_row, by_column = self._pooled(table, cells, 3), self._pooled(table, cells, 2)
            rows = rows + self._read(self.from_rows(by_row), states, padding)
            columns = columns + self._read(self.from_columns(by_column), states, padding)
            table = self._table(rows, columns, cells)
        return cast(Tensor, self.output(table))

    def _table(self, rows: Tensor, columns: Tensor, cells: Tensor) -> Tensor:
        """`[B, table_size, L, L]`."""
        return cast(Tensor, self.table(self.features(rows, cells, columns)))

    def _pooled(self, table: Tensor, cells: Tensor, axis: int) -> Tensor:
        """The largest scores along an axis, `[B, L, table_size]`."""
        if not self.mask_padding:
            return table.amax(dim=axis).transpose(1, 2)
        cells = cells[:, None]
        lowest = torch.finfo(table.dtype).min
        largest = torch.where(cells, table, lowest).amax(dim=axis)
        # Words in padding have nothing to pool.
        return torch.where(cells.any(dim=axis), largest, 0.0).transpose(1, 2)

    def _read(self, words: Tensor, states: Tensor, padding: Tensor) -> Tensor:
        """Words `[B, L, size]` after attention to one another and to the states."""
        read = self.attention(
            words,
            states,
            tgt_key_padding_mask=padding if self.mask_padding else None,
            memory_key_padding_mask=padding,
        )
        return cast(Tensor, read)
