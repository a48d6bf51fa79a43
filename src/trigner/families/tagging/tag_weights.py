"""Which weights of a network are those of single tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from torch import Tensor, nn


@dataclass(frozen=True, slots=True, eq=False)
class TagWeights:
    """Weights of which each slice along `axis` is that of one tag, from the tag `start` on.

    `of` arcs: of one arc of the scheme's automaton.
    """

    weights: Tensor
    start: int = 0
    axis: int = 0
    of: Literal["tags", "arcs"] = "tags"


def output_weights(layer: nn.Linear | nn.Conv2d, start: int = 0) -> list[TagWeights]:
    """Weights and biases of a layer whose outputs are tags."""
    return [TagWeights(cast(Tensor, own), start) for own in (layer.weight, layer.bias)]
