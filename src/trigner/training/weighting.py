"""How much each batch counts, so that every cell of the corpus counts alike.

A batch's loss is a mean over its cells. Batches by cost hold sentences of similar length: as means
they count alike, and so a cell of a long sentence, where discontinuous mentions stand, counts many
times less than one of a short sentence. A batch's size over the mean size mends that: an epoch then
minimises the mean over all cells, as random batches do on average
(`docs/decisions/batch-weighting.md`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trigner.systems import System
from trigner.training.data import EpochBatches
from trigner.training.settings import OptimisationSettings


class Collator:
    """Collates examples with a system and adds the batch's `weights`.

    A weight is the batch's size over the mean size of the batches, for each part of the loss that
    `System.sizes` names. With `optimisation.batch_weighting=equal` there are none.
    """

    def __init__(
        self,
        system: System,
        examples: Sequence[Any],
        batches: EpochBatches,
        settings: OptimisationSettings,
    ) -> None:
        self._system = system
        # By identity, once: some sizes take as long as a batch's collation.
        self._sizes: dict[int, Mapping[str, int]] = {}
        self._means: dict[str, float] = {}
        if settings.batch_weighting == "cells":
            sizes = [system.sizes(example) for example in examples]
            self._sizes = {id(e): own for e, own in zip(examples, sizes, strict=True)}
            for name in {name for own in sizes for name in own}:
                self._means[name] = batches.mean_sum([own.get(name, 0) for own in sizes])

    def __call__(self, examples: Sequence[Any]) -> dict[str, Any]:
        """A batch as keyword arguments of `System.loss`; `examples` are among those given."""
        weights = {
            name: sum(self._sizes[id(example)].get(name, 0) for example in examples) / mean
            for name, mean in self._means.items()
            if mean
        }
        return {**self._system.collate(examples), "weights": weights}
