"""Documents -> training examples, and epochs of batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from sys import intern
from typing import Any

import numpy as np
from torch.utils.data import Dataset

from trigner.arrays import Floats, Integers
from trigner.batches import shuffled, shuffled_by_cost
from trigner.errors import InputError
from trigner.mentions import Document, Sentence
from trigner.systems import System
from trigner.text import segment
from trigner.training.coordination import coordinations
from trigner.training.sampling import drawn, rates
from trigner.training.sections import OptimisationSettings, SamplingSettings
from trigner.training.windows import Windows

CHUNK = 1000
"""Sentences that are prepared at a time."""


@dataclass(frozen=True)
class TrainingData(Dataset[Any]):
    """Examples of a corpus, and the mentions that a system cannot give back, counted by reason.

    `rates` say how often an epoch sees each example (`sampling.drawn`). The corpus has `sentences`
    with `mentions`, `neighboured` ones with other sentences of their document beside them; an epoch
    has `made` ones in addition to them, on average.
    """

    examples: tuple[Any, ...]
    rates: tuple[float, ...]
    sentences: int
    mentions: int
    unusable: dict[str, int]
    made: int = 0
    neighboured: int = 0

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, index: int) -> Any:
        return self.examples[index]

    @property
    def lengths(self) -> list[int]:
        """Words of each example, special words included."""
        return [example.size for example in self.examples]


def prepare(
    documents: Iterable[Document],
    system: System,
    settings: SamplingSettings,
    seed: int,
    context_words: int = 0,
) -> TrainingData:
    """Sentences with at least one word, as examples of the system, and those made of them.

    Those are made by coordination, with `context_words` on each side of the sentence that they are
    made of, and windows of documents. Some 1,000 sentences at a time: a sentence is larger than the
    example that stays of it. Raises InputError when there is nothing to learn from.
    """
    unusable: Counter[str] = Counter()
    examples: list[Any] = []
    of_windows: list[Any] = []
    count = mentions = made = neighboured = 0
    annotated: list[Sentence] = []
    for sentences, windows in _chunks(documents, unusable, Windows(settings.windows, seed)):
        prepared = system.prepare(sentences)
        examples += prepared.inputs
        unusable["longer than the encoder's window"] += len(prepared.lost)
        unusable["the system cannot express them"] += system.inexpressible(sentences)
        count += len(sentences)
        neighboured += sum(bool(sentence.left or sentence.right) for sentence in sentences)
        mentions += sum(len(sentence.mentions) for sentence in sentences)
        of_windows += system.prepare(windows).inputs if windows else ()
        made += len(windows)
        if settings.coordination:
            annotated += (_words_alone(each, context_words) for each in sentences if each.mentions)
    if not mentions:
        raise InputError("the training documents contain no entity to learn from")
    coordinated: list[Any] = []
    number = 0
    generated = coordinations(annotated, settings, seed)
    while chunk := list(islice(generated, CHUNK)):
        coordinated += system.prepare(chunk).inputs
        number += len(chunk)
    made += round(number / settings.coordination_pool)
    of_pool = (rate / settings.coordination_pool for rate in rates(coordinated, settings))
    return TrainingData(
        (*examples, *coordinated, *of_windows),
        (*rates(examples, settings), *of_pool, *rates(of_windows, settings)),
        count,
        mentions,
        {reason: count for reason, count in sorted(unusable.items()) if count},
        made,
        neighboured,
    )


def _words_alone(sentence: Sentence, context: int) -> Sentence:
    """What others are made of: equal words are in memory once, of the context what is read."""
    words, left, right = (
        tuple(map(intern, own))
        for own in (
            sentence.words,
            sentence.left[-context:] if context else (),
            sentence.right[:context],
        )
    )
    return replace(sentence, words=words, offsets=(), left=left, right=right)


def _chunks(
    documents: Iterable[Document],
    unusable: Counter[str],
    windows: Windows,
) -> Iterator[tuple[list[Sentence], list[Sentence]]]:
    """The sentences of whole documents, at least `CHUNK` but the last; counts what has none.

    With them `windows` of the same documents.
    """
    sentences: list[Sentence] = []
    cut: list[Sentence] = []
    for document in documents:
        found = segment(document)
        unusable.update(entity.reason for entity in found.unreachable)
        sentences += found.sentences
        cut += windows.of(document, found)
        if len(sentences) >= CHUNK:
            yield sentences, cut
            sentences, cut = [], []
    if sentences:
        yield sentences, cut


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
        self._lengths = lengths
        self._settings = settings
        self._rates = [1.0] * len(lengths) if rates is None else rates
        self._seeds = range(seed, seed + epochs)
        # Of all epochs no more than that is kept: batches are cut anew when their epoch comes.
        self._seen: Integers = np.zeros(len(lengths), dtype=np.int64)
        sizes = []
        for own in self._seeds:
            plan = self._plan(own)
            members = [i for batch in plan for i in batch]
            np.add.at(self._seen, members, 1)
            sizes.append((len(plan), len(members)))
        if not all(count for count, _ in sizes):
            raise InputError(
                f"{len(lengths)} sentences do not fill one batch of {settings.batch_size}:"
                " lower optimisation.batch_size, or set optimisation.cell_budget"
            )
        self._count = max(count for count, _ in sizes)
        self._all = sum(min(self._count, members) for _, members in sizes)

    def _plan(self, seed: int) -> list[list[int]]:
        settings = self._settings
        members = drawn(self._rates, seed)
        if settings.cells is None:
            plan = shuffled(len(members), sentences=settings.batch_size, seed=seed)
        elif settings.batches == "random":
            plan = shuffled(len(members), sentences=settings.batch_size, seed=seed, with_last=True)
        else:
            plan = shuffled_by_cost(
                [self._lengths[i] for i in members],
                sentences=settings.batch_size,
                cells=settings.cells,
                seed=seed,
            )
        return [[members[position] for position in batch] for batch in plan]

    @property
    def epochs(self) -> int:
        """How many there are."""
        return len(self._seeds)

    def mean_sum(self, numbers: Sequence[float] | Floats) -> float:
        """The mean, over all batches of all epochs, of the sum of their examples' `numbers`."""
        return float(self._seen @ np.asarray(numbers)) / self._all

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[list[int]]:
        plan = self._plan(self._seeds[min(self.epoch, len(self._seeds) - 1)])
        while len(plan) < self._count:
            largest = max(range(len(plan)), key=lambda i: len(plan[i]))
            batch = plan[largest]
            if len(batch) == 1:
                break
            plan[largest] = batch[: len(batch) // 2]
            plan.append(batch[len(batch) // 2 :])
        return iter(plan)
