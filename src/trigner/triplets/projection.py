"""A head between the pair states and the triplet loss, which is thrown away after training.

With it the loss shapes the states without asking that the numbers which the tags read lie near each
other: Chen et al., A simple framework for contrastive learning of visual representations, 2020,
section 4.2.
"""

from __future__ import annotations

from typing import cast

from torch import Tensor, nn
from torch.nn import functional

SIZE = 64
"""Size of the projected vectors. The article's figure 8 has similar results from 32 to 2048."""


class ProjectionHead(nn.Module):
    """Two layers, then vectors of length 1."""

    def __init__(self, input_size: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(input_size, input_size)
        self.output = nn.Linear(input_size, SIZE)

    def forward(self, states: Tensor) -> Tensor:
        """`[N, SIZE]` from `[N, input_size]`."""
        hidden = functional.gelu(self.hidden(states))
        return functional.normalize(cast(Tensor, self.output(hidden)), dim=1)
