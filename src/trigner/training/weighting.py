"""How much each batch counts, so that it does not matter with which others a sentence is in it.

A batch's loss is a mean over its cells. Batches by cost hold sentences of similar length: as means
they count alike, and so a cell of a long sentence, where discontinuous mentions stand, counts many
times less than one of a short sentence. A batch's size over the mean size mends that: each cell
counts alike (`research/decisions/batch-weighting.md`).

Tags that stand in one triangle of the grid have a mean over its cells, and their batches and shares
count by all cells. A triangle has (1 + 1/L)/2 of the cells of L words, nearly half of any: the
gradients of shares add up to that of their batch but for a thousandth or two (mac, span_grid,
gap_grid).

The triplet loss counts its triplets. With `triplets.reduction=mean_violating` it is a mean over
those whose loss is above 0, with the selection `sn` over pairs that have a negative between the
bounds: how many these are is known from the scores alone, so there shares do not add up exactly.

Several processes take a share of each batch: its loss counts as much as it has of the batch, times
the number of processes, as gradients are averaged over them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trigner.arrays import Floats
from trigner.systems import OptimisationSettings, System
from trigner.training.data import EpochBatches
from trigner.training.processes import ALONE, Processes


class Collator:
    """Collates this process's share of a batch with a system and adds its `weights`.

    A weight is what the batch counts over what batches count on average, for each part of the loss
    that `System.sizes` names, times the share's part of the batch. Of whole batches that count
    alike there are none. With several processes there is the `factor` of the whole loss, too.
    """

    def __init__(
        self,
        system: System,
        examples: Sequence[Any],
        batches: EpochBatches,
        settings: OptimisationSettings,
        processes: Processes = ALONE,
    ) -> None:
        self._system = system
        self._processes = processes
        # Once, and found by identity: some sizes take as long as a batch's collation.
        self._rows: dict[int, int] = {}
        self._sizes: dict[str, Floats] = {}
        self._counts: dict[str, Floats] = {}
        equal = settings.batch_weighting == "equal"
        if equal and processes.count == 1:
            return
        self._rows = {id(example): row for row, example in enumerate(examples)}
        for row, example in enumerate(examples):
            for name, size in system.sizes(example).items():
                self._sizes.setdefault(name, np.zeros(len(examples)))[row] = size
        if equal:
            return
        for name, sizes in sorted(self._sizes.items()):
            if mean := batches.mean_sum(sizes):
                self._counts[name] = sizes / mean

    def __call__(self, examples: Sequence[Any]) -> dict[str, Any]:
        """A `batch` of examples among those given: the keyword arguments of `System.loss`."""
        share = self._processes.share(examples)
        # All processes take part in an update: one without a share has a loss that counts nothing.
        own = self._weighted(share or examples[:1], examples)
        count = self._processes.count
        return {"batch": own} if count == 1 else {"batch": own, "factor": count if share else 0}

    def _weighted(self, share: Sequence[Any], batch: Sequence[Any]) -> dict[str, Any]:
        """A share of a batch, with what its loss counts."""
        weights = self._summed(self._counts, batch)
        if len(share) < len(batch):
            sizes, whole = self._summed(self._sizes, share), self._summed(self._sizes, batch)
            parts = {name: sizes[name] / size for name, size in whole.items() if size}
            weights = {name: weights.get(name, 1.0) * part for name, part in parts.items()}
        return {**self._system.collate(share), "weights": weights}

    def _summed(self, numbers: Mapping[str, Floats], examples: Sequence[Any]) -> dict[str, float]:
        """The sum of the examples' numbers, by name."""
        rows = [self._rows[id(example)] for example in examples] if numbers else []
        return {name: float(own[rows].sum()) for name, own in numbers.items()}
