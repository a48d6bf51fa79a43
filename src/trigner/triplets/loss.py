"""The triplet loss over a batch's candidates (paper, equation for `L_triplet`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar, get_args

import torch
from torch import Tensor, nn
from torch.nn import functional

from trigner.errors import InputError
from trigner.triplets.batch import CandidateBatch
from trigner.triplets.metrics import METRICS
from trigner.triplets.selection import SELECTIONS
from trigner.triplets.settings import SELECTION_ALIASES, Reduction

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class TripletResult:
    """Scalars on the states' device; the counts are tensors to avoid waiting for the device."""

    loss: Tensor
    """Part of the graph of the states, even when there is no triplet."""
    triplets: Tensor
    """int64: how many were selected."""
    violating: Tensor
    """int64: how many of them have a hinge above 0."""


class TripletLoss(nn.Module):
    """`max(0, margin + d(anchor, positive) - d(anchor, negative))` of the selected triplets.

    `selection` and `metric` are names of `SELECTIONS` (or their aliases) and `METRICS`; the metric
    is used by the selection and the loss. `mean_violating`, as in the released code, is the mean
    over triplets with a hinge above 0; the paper's formula is the `sum`. Raises InputError for an
    unknown name or a margin that is not above 0.
    """

    def __init__(
        self,
        selection: str = "ce",
        margin: float = 1.0,
        metric: str = "euclidean",
        reduction: str = "mean_violating",
    ) -> None:
        super().__init__()
        if not margin > 0:
            raise InputError(f"the triplet margin must be above 0; got {margin}")
        aliases = {alias: SELECTIONS[name] for alias, name in SELECTION_ALIASES.items()}
        self.select = _named("triplet selection", selection, {**SELECTIONS, **aliases})
        self.metric = _named("metric", metric, METRICS)
        self.reduction = _named("reduction", reduction, {r: r for r in get_args(Reduction)})
        self.margin = margin

    def forward(self, states: Tensor, batch: CandidateBatch) -> TripletResult:
        """`states [N, D]` are the vectors of the batch's cells, on the batch's device.

        Computed in float32 at least, inside autocast too.
        """
        with torch.autocast(states.device.type, enabled=False):
            states = states.to(torch.promote_types(states.dtype, torch.float32))
            chosen = self.select(states, batch, metric=self.metric, margin=self.margin)
            hinges = functional.relu(
                self.margin
                + self.metric.pairwise(chosen.anchors, chosen.positives)
                - self.metric.pairwise(chosen.anchors, chosen.negatives)
            )
            valid = chosen.valid
            if valid is None:
                valid = torch.ones_like(hinges, dtype=torch.bool)
            hinges = torch.where(valid, hinges, 0.0)
            triplets, violating = valid.sum(), (hinges > 0).sum()
            return TripletResult(self._reduced(hinges, triplets, violating), triplets, violating)

    def _reduced(self, hinges: Tensor, triplets: Tensor, violating: Tensor) -> Tensor:
        if self.reduction == "sum":
            return hinges.sum()
        count = violating if self.reduction == "mean_violating" else triplets
        return hinges.sum() / count.clamp(min=1)

    def extra_repr(self) -> str:
        return f"{self.select.__name__}, margin={self.margin}, {self.reduction}"  # type: ignore[attr-defined]


def _named(what: str, name: str, known: Mapping[str, T]) -> T:
    if name not in known:
        raise InputError(f"unknown {what} {name!r}; known are: {', '.join(known)}")
    return known[name]
