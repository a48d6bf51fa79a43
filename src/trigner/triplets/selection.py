"""Triplets from candidates: what other libraries call miners (paper, section 3.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from trigner.triplets.batch import BLOCK, Block, CandidateBatch
from trigner.triplets.candidates import Candidates
from trigner.triplets.centroids import negative_centroids, positive_centroids
from trigner.triplets.metrics import Metric
from trigner.triplets.settings import SELECTION_ALIASES


@dataclass(frozen=True, slots=True, eq=False)
class Triplets:
    """T anchors with a positive and a negative each. Gradients flow to the states behind them."""

    anchors: Tensor
    """`[T, D]`."""
    positives: Tensor
    """`[T, D]`."""
    negatives: Tensor
    """`[T, D]`."""
    valid: Tensor | None = None
    """Bool `[T]`: False where there is no triplet after all; None: every row is one. A mask,
    since removing rows would wait for the device."""


class Selection(Protocol):
    """Triplets from the cell vectors `[N, D]` of a batch of candidates."""

    def __call__(
        self, states: Tensor, batch: CandidateBatch, *, metric: Metric, margin: float
    ) -> Triplets: ...


def centroid(states: Tensor, batch: CandidateBatch, *, metric: Metric, margin: float) -> Triplets:
    """One triplet an anchor: the mean of its positives, the mean of its negatives."""
    anchors, positives = _vectors(states, batch.anchors, batch.pair_cells)
    return Triplets(
        anchors=anchors,
        positives=positive_centroids(positives, batch),
        negatives=negative_centroids(states, batch),
    )


def negative_centroid(
    states: Tensor, batch: CandidateBatch, *, metric: Metric, margin: float
) -> Triplets:
    """All anchor-positive pairs, each with the mean of the anchor's negatives."""
    anchors, positives = _vectors(states, batch.anchors, batch.pair_cells)
    return Triplets(
        anchors=anchors[batch.pair_anchors],
        positives=positives,
        negatives=negative_centroids(states, batch)[batch.pair_anchors],
    )


def hard_negative(
    states: Tensor, batch: CandidateBatch, *, metric: Metric, margin: float
) -> Triplets:
    """All anchor-positive pairs, each with the anchor's nearest negative."""
    nearest = torch.empty_like(batch.anchors)
    for block, _, to_negatives in _distances(states, batch, metric):
        nearest[block.anchors] = to_negatives.argmin(dim=1) + block.cells.start
    return _pairs(states, batch, nearest[batch.pair_anchors])


def semi_hard(states: Tensor, batch: CandidateBatch, *, metric: Metric, margin: float) -> Triplets:
    """All anchor-positive pairs, each with the nearest negative that is farther than the positive,
    but by less than the margin. Pairs without such a negative make no triplet."""
    chosen, found = _semi_hard(states, batch, metric, margin)
    return _pairs(states, batch, chosen, valid=found)


def semi_hard_or_hard(
    states: Tensor, batch: CandidateBatch, *, metric: Metric, margin: float
) -> Triplets:
    """As `semi_hard`, with the anchor's nearest negative where there is no such negative."""
    chosen, _ = _semi_hard(states, batch, metric, margin)
    return _pairs(states, batch, chosen)


SELECTIONS: dict[str, Selection] = {
    "hn": hard_negative,
    "sn": semi_hard,
    "ce": centroid,
    "nc": negative_centroid,
    "sn-hn": semi_hard_or_hard,
}
"""Selections by their names in settings."""

ONE_AN_ANCHOR = frozenset({"ce"})
"""The selections that make one triplet an anchor. The others make one of each pair of an anchor and
a positive."""


def triplet_count(found: Candidates, selection: str) -> int:
    """How many triplets a selection makes of a sentence, as known before its cells have vectors.

    `sn` makes fewer: it leaves out pairs by their distances.
    """
    name = SELECTION_ALIASES.get(selection, selection)
    return len(found.anchors if name in ONE_AN_ANCHOR else found.positives)


def _pairs(
    states: Tensor, batch: CandidateBatch, negatives: Tensor, valid: Tensor | None = None
) -> Triplets:
    """Triplets of all pairs with these cells `[Q]` as negatives."""
    anchors, positives, others = _vectors(states, batch.anchors, batch.pair_cells, negatives)
    return Triplets(anchors[batch.pair_anchors], positives, others, valid)


def _vectors(states: Tensor, *cells: Tensor) -> tuple[Tensor, ...]:
    """Vectors of each of these lists of cells. A single gather, as the gradient of each gather is
    as large as `states`."""
    joined: tuple[Tensor, ...] = states[torch.cat(cells)].split([len(part) for part in cells])
    return joined


def _distances(
    states: Tensor, batch: CandidateBatch, metric: Metric
) -> Iterator[tuple[Block, Tensor, Tensor]]:
    """Blocks with the distances of their anchors to all cells, and the same with infinity for cells
    that are not negatives; both `[anchors, cells]`."""
    fixed = states.detach()
    for block, mask in batch.masks():
        distances = metric.matrix(fixed[batch.anchors[block.anchors]], fixed[block.cells])
        yield block, distances, distances.masked_fill(~mask, torch.inf)


def _semi_hard(
    states: Tensor, batch: CandidateBatch, metric: Metric, margin: float
) -> tuple[Tensor, Tensor]:
    """A cell for each pair `[Q]`; whether it lies between the bounds (else it is the nearest)."""
    chosen = torch.empty_like(batch.pair_cells)
    found = torch.empty_like(batch.pair_cells, dtype=torch.bool)
    for block, distances, to_negatives in _distances(states, batch, metric):
        nearest = to_negatives.argmin(dim=1)
        step = max(1, BLOCK // distances.shape[1])
        for start in range(block.pairs.start, block.pairs.stop, step):
            pairs = slice(start, min(start + step, block.pairs.stop))
            anchors = batch.pair_anchors[pairs] - block.anchors.start
            to_positives = distances[anchors, batch.pair_cells[pairs] - block.cells.start][:, None]
            away = to_negatives[anchors]
            between = (to_positives < away) & (away < to_positives + margin)
            away, cells = away.masked_fill(~between, torch.inf).min(dim=1)
            found[pairs] = away.isfinite()
            chosen[pairs] = torch.where(found[pairs], cells, nearest[anchors]) + block.cells.start
    return chosen, found
