"""Documents -> training examples, epochs of batches, and padded batches with targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.data import Dataset

from trigner.batches import Example, collate, pad_tags, shuffled, shuffled_by_cost, windowing
from trigner.errors import InputError
from trigner.mentions import Document, Sentence
from trigner.networks import Model
from trigner.text import segment
from trigner.training.sampling import drawn
from trigner.training.settings import OptimisationSettings
from trigner.training.weighting import EQUAL, BatchWeighting, cells_of
from trigner.triplets import TripletSettings, candidates
from trigner.triplets import collate as collate_candidates


@dataclass(frozen=True)
class TrainingData(Dataset[Example]):
    """Examples of a corpus, and the mentions that a model cannot give back, counted by reason.

    The corpus has `sentences` with `mentions`; `made` sentences stand beside them.
    """

    examples: tuple[Example, ...]
    sentences: int
    mentions: int
    unusable: dict[str, int]
    made: int = 0

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, index: int) -> Example:
        return self.examples[index]

    def lengths(self, special_words: int) -> list[int]:
        """Words of each example, those before it included."""
        return [example.length + special_words for example in self.examples]


def prepare(
    documents: Sequence[Document], model: Model, made: Sequence[Document] = ()
) -> TrainingData:
    """Sentences with at least one word, as examples that the encoder can hold.

    `made` are sentences that training made of those of `documents`. Raises InputError when there is
    nothing to learn from.
    """
    unusable: Counter[str] = Counter()
    sentences: list[Sentence] = []
    for document in documents:
        segmentation = segment(document)
        sentences += segmentation.sentences
        unusable.update(found.reason for found in segmentation.unreachable)
    parts = windowing(sentences, model.subwords, model.tagger.encoder.max_subwords)
    unusable.update("longer than the encoder's window" for _ in parts.lost)
    for sentence in sentences:
        lost = model.scheme.encode(sentence.mentions, len(sentence.words)).lost
        unusable.update(f"the scheme {model.scheme.name} cannot express it" for _ in lost)
    mentions = sum(len(sentence.mentions) for sentence in sentences)
    if not mentions:
        raise InputError("the training documents have no entity that could be learnt")
    further = [sentence for document in made for sentence in segment(document).sentences]
    beside = windowing(further, model.subwords, model.tagger.encoder.max_subwords).examples
    return TrainingData(
        parts.examples + beside,
        len(sentences),
        mentions,
        dict(sorted(unusable.items())),
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
        return [[members[place] for place in batch] for batch in plan]

    def mean_sum(self, numbers: Sequence[int]) -> float:
        """The mean, over all batches of all epochs, of the sum of their examples' `numbers`."""
        total = sum(numbers[i] for plan in self._epochs for batch in plan for i in batch)
        return total / sum(map(len, self._epochs))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self._epochs[min(self.epoch, len(self._epochs) - 1)])


def collator(
    model: Model,
    triplet_candidates: TripletSettings | None,
    weighting: BatchWeighting = EQUAL,
) -> Callable[[Sequence[Example]], dict[str, Any]]:
    """What makes the trainer's inputs of examples: the tagger's arrays, padded `tags`, what the
    batch counts (`weight`) and, with triplets, `candidates` and their `triplet_weight`."""

    def together(examples: Sequence[Example]) -> dict[str, Any]:
        batch = collate([e.subwords for e in examples], padding_id=model.padding_id)
        tags = [model.scheme.encode(e.mentions, e.length).tags for e in examples]
        inputs: dict[str, Any] = {
            "input_ids": torch.from_numpy(batch.input_ids),
            "attention_mask": torch.from_numpy(batch.attention_mask),
            "word_subwords": torch.from_numpy(batch.word_subwords),
            "lengths": torch.from_numpy(batch.lengths),
            "tags": torch.from_numpy(
                pad_tags(tags, word_axes=model.scheme.tag_space.word_axes, offset=model.offset)
            ),
            "weight": weighting.of_cells(sum(cells_of(model, e) for e in examples)),
        }
        if triplet_candidates is not None:
            found = [
                candidates([m.words for m in e.mentions], e.length, triplet_candidates)
                for e in examples
            ]
            inputs["candidates"] = collate_candidates(found)
            anchors = sum(len(each.anchors) for each in found)
            inputs["triplet_weight"] = weighting.of_anchors(anchors)
        return inputs

    return together
