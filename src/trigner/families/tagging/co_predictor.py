"""Two branches, one score: word states through a pair map, pair features through an MLP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from trigner.families.tagging.network_settings import PairMapKind
from trigner.families.tagging.pair_maps import PairMap, pair_map, trilinear, with_one
from trigner.families.tagging.tag_weights import TagWeights, output_weights
from trigner.networks import Dropout, PointwiseConvolution


@dataclass(frozen=True, slots=True)
class PairScores:
    """Logits `[B, C, L, L]`, and the states that the predictor's own `pair_states` reads.

    `hidden [B, grid_size, L, L]` is what the grid branch's last layer reads.
    """

    logits: Tensor
    states: Tensor
    hidden: Tensor


class GridBranch(nn.Module):
    """`H^co`: pair features through one hidden layer to tag scores (W2NER, section 4, item 8)."""

    def __init__(self, *, input_size: int, size: int, classes: int, dropout: float) -> None:
        super().__init__()
        self.size = size
        self.hidden = PointwiseConvolution(input_size, size)
        self.output = PointwiseConvolution(size, classes)
        self.dropout = Dropout(dropout)

    def forward(self, features: Tensor) -> Tensor:
        """Scores `[B, C, L, L]` from pair features `[B, F, L, L]`."""
        return cast(Tensor, self.output(self.states(features)))

    def states(self, features: Tensor) -> Tensor:
        """What the last layer reads, `[B, size, L, L]`, from pair features `[B, F, L, L]`."""
        hidden = nn.functional.gelu(self.hidden(self._dropped(features)))
        return self._dropped(hidden)

    def initialise_bias(self, scores: Tensor) -> None:
        """Let every pair begin near these scores of the tags, `[C]`."""
        with torch.no_grad():
            cast(Tensor, self.output.bias).copy_(scores)

    def _dropped(self, grid: Tensor) -> Tensor:
        # In the order that the numbers have in memory.
        return self.dropout(grid.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class TrignerCoPredictor(nn.Module):
    """TriG-NER's: the pair map reads the BiLSTM states directly, no MLP or dropout before it."""

    def __init__(
        self,
        *,
        word_size: int,
        feature_size: int,
        classes: int,
        pair_map_kind: PairMapKind,
        pair_size: int,
        grid_size: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.pairs: PairMap = pair_map(
            pair_map_kind, input_size=word_size, size=pair_size, classes=classes
        )
        self.grid = GridBranch(
            input_size=feature_size, size=grid_size, classes=classes, dropout=dropout
        )

    def forward(self, states: Tensor, features: Tensor) -> PairScores:
        """Logits `Y` from `H [B, L, word_size]`, which is `states`, and features `[B, F, L, L]`."""
        hidden = self.grid.states(features)
        logits = self.pairs(states) + cast(Tensor, self.grid.output(hidden))
        return PairScores(logits, states, hidden)

    @property
    def pair_state_size(self) -> int:
        """The width of `H^bi`."""
        return self.pairs.size

    def pair_states(
        self, states: Tensor, sentences: Tensor, rows: Tensor, columns: Tensor
    ) -> Tensor:
        """`H^bi [N, pair_size]` at cells."""
        return self.pairs.states_at(states, sentences, rows, columns)

    def tag_weights(self, start: int = 0) -> list[TagWeights]:
        """Weights of single tags in both branches, `start` that of the first."""
        return [*self.pairs.tag_weights(start), *output_weights(self.grid.output, start)]


class W2nerCoPredictor(nn.Module):
    """W2NER's own: an MLP for each side of a pair, then a biaffine straight to the classes."""

    def __init__(
        self,
        *,
        word_size: int,
        feature_size: int,
        classes: int,
        biaffine_size: int,
        grid_size: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.row = nn.Linear(word_size, biaffine_size)
        self.column = nn.Linear(word_size, biaffine_size)
        self.weight = nn.Parameter(torch.empty(classes, biaffine_size + 1, biaffine_size + 1))
        self.dropout = Dropout(dropout)
        self.grid = GridBranch(
            input_size=feature_size, size=grid_size, classes=classes, dropout=dropout
        )
        nn.init.xavier_normal_(self.weight)

    def forward(self, states: Tensor, features: Tensor) -> PairScores:
        """Logits `Y` from `H [B, L, word_size]` and pair features `[B, F, L, L]`.

        `states` is what the grid branch's last layer reads, `[B, grid_size, L, L]`.
        """
        rows = self._side(self.row, states)
        columns = self._side(self.column, states)
        hidden = self.grid.states(features)
        logits = trilinear(rows, self.weight, columns) + cast(Tensor, self.grid.output(hidden))
        return PairScores(logits, hidden, hidden)

    @property
    def pair_state_size(self) -> int:
        """The hidden size of the grid branch."""
        return self.grid.size

    def pair_states(
        self, states: Tensor, sentences: Tensor, rows: Tensor, columns: Tensor
    ) -> Tensor:
        """The grid branch's states `[N, grid_size]` at cells."""
        return states[sentences, :, rows, columns]

    def tag_weights(self, start: int = 0) -> list[TagWeights]:
        """Weights of single tags in both branches, `start` that of the first."""
        return [TagWeights(self.weight, start), *output_weights(self.grid.output, start)]

    def _side(self, layer: nn.Linear, states: Tensor) -> Tensor:
        hidden = nn.functional.gelu(layer(self.dropout(states)))
        return with_one(self.dropout(hidden))


CoPredictor = TrignerCoPredictor | W2nerCoPredictor
