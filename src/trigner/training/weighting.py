"""How much each batch counts, so that every cell of the corpus counts alike.

A batch's loss is a mean over its cells. Batches by cost hold sentences of similar length: as means
they count alike, and so a cell of a long sentence, where discontinuous mentions stand, counts many
times less than one of a short sentence. A batch's size over the mean size mends that: an epoch then
minimises the mean over all cells, as random batches do on average
(`docs/decisions/batch-weighting.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trigner.batches import Example
from trigner.networks import Model
from trigner.training.settings import OptimisationSettings
from trigner.triplets import TripletSettings, candidates


@dataclass(frozen=True, slots=True)
class BatchWeighting:
    """Factors of a batch's losses: its cells and its anchors over what a batch has on average.

    With a mean of None a batch counts as much as any other.
    """

    cells: float | None = None
    anchors: float | None = None

    def of_cells(self, cells: int) -> float:
        """The factor of the tags' loss of a batch with so many cells, padding left out."""
        return 1.0 if self.cells is None else cells / self.cells

    def of_anchors(self, anchors: int) -> float:
        """The factor of the triplet loss of a batch with so many anchors."""
        return 1.0 if not self.anchors else anchors / self.anchors


EQUAL = BatchWeighting()
"""A batch counts as much as any other."""


def batch_weighting(
    model: Model,
    examples: Sequence[Example],
    settings: OptimisationSettings,
    triplets: TripletSettings | None,
    mean_of_batches: Callable[[Sequence[int]], float],
) -> BatchWeighting:
    """The means over all batches of a training; mining every anchor once if there are triplets.

    `mean_of_batches` gives the mean over batches of the sum of its examples' numbers.
    """
    if settings.batch_weighting == "equal":
        return EQUAL
    anchors = None
    if triplets is not None:
        found = [candidates([m.words for m in e.mentions], e.length, triplets) for e in examples]
        anchors = mean_of_batches([len(each.anchors) for each in found])
    return BatchWeighting(mean_of_batches([cells_of(model, e) for e in examples]), anchors)


def cells_of(model: Model, example: Example) -> int:
    """Word pairs of an example, special words' included; words where the scheme scores words."""
    return int((example.length + model.offset) ** model.scheme.tag_space.word_axes)
