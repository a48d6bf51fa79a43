"""Documents -> training examples, and epochs of batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torch.utils.data import Dataset

from trigner.batches import shuffled, shuffled_by_cost
from trigner.errors import InputError
from trigner.mentions import Document, Sentence
from trigner.systems import System
from trigner.text import Segmentation, segment
from trigner.training.sampling import drawn
from trigner.training.settings import OptimisationSettings


@dataclass(frozen=True)
class TrainingData(Dataset[Any]):
    """Examples of a corpus, and the mentions that a system cannot give back, counted by reason.

    The corpus has `sentences` with `mentions`; `made` sentences stand beside them.
    """

    examples: tuple[Any, ...]
    sentences: int
    mentions: int
    unusable: dict[str, int]
    made: int = 0

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, index: int) -> Any:
        return self.examples[index]

    @property
    def lengths(self) -> list[int]:
        """Words of each example, special words included."""
        return [example.size for example in self.examples]


def prepare(
    segmentations: Sequence[Segmentation], system: System, made: Sequence[Document] = ()
) -> TrainingData:
    """Sentences with at least one word, as examples of the system.

    `made` are sentences that training made of those of the corpus. Raises InputError when there is
    nothing to learn from.
    """
    unusable: Counter[str] = Counter()
    sentences: list[Sentence] = []
    for segmentation in segmentations:
        sentences += segmentation.sentences
        unusable.update(found.reason for found in segmentation.unreachable)
    prepared = system.prepare(sentences)
    unusable["longer than the encoder's window"] += len(prepared.lost)
    unusable["the system cannot express them"] += system.inexpressible(sentences)
    mentions = sum(len(sentence.mentions) for sentence in sentences)
    if not mentions:
        raise InputError("the training documents contain no entity to learn from")
    further = [sentence for document in made for sentence in segment(document).sentences]
    return TrainingData(
        prepared.inputs + system.prepare(further).inputs,
        len(sentences),
        mentions,
        {reason: count for reason, count in sorted(unusable.items()) if count},
        len(further),
    )


class EpochBatches:
    """Batches of example indices; the callback that knows the epoch sets `epoch`.

    `rates` say how often an epoch sees each example (None: once); `sampling.drawn`.

    Every epoch has the same number of batches, so that the schedule and a resumed training agree
    about where they are: where one epoch needs fewer batches than another, its batches with most
    sentences are halved.
    """

    def __init__(
        self,
        lengths: Sequence[int],
        settings: OptimisationSettings,
        seed: int,
        epochs: int,
        rates: Sequence[float] | None = None,
    ) -> None:
        self.epoch = 0
        rates = [1.0] * len(lengths) if rates is None else rates
        self._epochs = [self._plan(lengths, settings, rates, seed + n) for n in range(epochs)]
        if not all(self._epochs):
            raise InputError(
                f"{len(lengths)} sentences are less than one batch of {settings.batch_size}:"
                " set optimisation.batch_size or optimisation.cell_budget"
            )
        self._count = max(map(len, self._epochs))
        for plan in self._epochs:
            while len(plan) < self._count:
                largest = max(range(len(plan)), key=lambda i: len(plan[i]))
                batch = plan[largest]
                if len(batch) == 1:
                    break
                plan[largest] = batch[: len(batch) // 2]
                plan.append(batch[len(batch) // 2 :])

    @staticmethod
    def _plan(
        lengths: Sequence[int], settings: OptimisationSettings, rates: Sequence[float], seed: int
    ) -> list[list[int]]:
        members = drawn(rates, seed)
        if settings.cells is None:
            plan = shuffled(len(members), sentences=settings.batch_size, seed=seed)
        else:
            plan = shuffled_by_cost(
                [lengths[i] for i in members],
                sentences=settings.batch_size,
                cells=settings.cells,
                seed=seed,
            )
        return [[members[position] for position in batch] for batch in plan]

    def mean_sum(self, numbers: Sequence[int]) -> float:
        """The mean, over all batches of all epochs, of the sum of their examples' `numbers`."""
        total = sum(numbers[i] for plan in self._epochs for batch in plan for i in batch)
        return total / sum(map(len, self._epochs))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self._epochs[min(self.epoch, len(self._epochs) - 1)])
