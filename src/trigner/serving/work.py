"""The work of a request: windows of words to be scored, one after the other.

Texts are segmented lazily, while they are scored: a long request neither fills the memory nor
delays the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from trigner.batches import Example, windowing
from trigner.inference import Extractor, RunStatistics
from trigner.mentions import Document, Entity, Sentence
from trigner.text import entity_of, sentences_in

T = TypeVar("T")

SENTENCES_AT_A_TIME = 64
"""Sentences tokenized into subwords together."""


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A window of words, and a callback for its logits `[L, L, C]`, padding behind them."""

    example: Example
    receive: Callable[[NDArray[np.floating[Any]]], None]


class Work(Generic[T]):
    """The work items of one request and, in `future`, their result.

    Used by the worker thread alone, except for `future`: whoever waits for it may cancel it, which
    ends the work.
    """

    def __init__(self, items: Iterable[WorkItem], result: Callable[[], T]) -> None:
        self.future: Future[T] = Future()
        self.started = False
        self._items: Iterator[WorkItem] = iter(items)
        self._next: WorkItem | None = None
        self._result = result
        self._in_progress = 0

    def take(self) -> WorkItem | None:
        """The next work item, or None after the last."""
        if not self.started:
            self.started = True
            self._next = next(self._items, None)
        item = self._next
        if item is not None:
            self._in_progress += 1
            self._next = next(self._items, None)
        return item

    @property
    def has_more(self) -> bool:
        """Whether `take` may return another work item."""
        return not self.started or self._next is not None

    def receive(self, item: WorkItem, logits: NDArray[np.floating[Any]]) -> None:
        """Pass on the logits of an item that was taken."""
        item.receive(logits)
        self._in_progress -= 1

    def finish(self) -> None:
        """Set the result if all items are done."""
        if not self.has_more and self._in_progress == 0 and not self.future.done():
            with suppress(InvalidStateError):  # cancelled at this very moment
                self.future.set_result(self._result())

    def fail(self, error: BaseException) -> None:
        """Set an error instead of the result."""
        with suppress(InvalidStateError):
            self.future.set_exception(error)


@dataclass
class TextResult:
    """The entities of one text and its run statistics."""

    entities: list[Entity] = field(default_factory=list)
    statistics: RunStatistics = field(default_factory=RunStatistics)


def extraction(
    extractor: Extractor, texts: Sequence[str], threshold: float | None = None
) -> Work[list[TextResult]]:
    """The entities of texts, as `extractor` finds them; `threshold` replaces its thresholds."""
    results = [TextResult() for _ in texts]
    if threshold is not None:
        extractor = replace(extractor, threshold=threshold, thresholds={})
    items = (
        item
        for text, result in zip(texts, results, strict=True)
        for item in _items(replace(extractor, tally=result.statistics), text, result)
    )

    def in_order() -> list[TextResult]:
        for result in results:
            result.entities.sort(key=lambda e: (e.fragments, e.label))
        return results

    return Work(items, in_order)


def _items(extractor: Extractor, text: str, result: TextResult) -> Iterator[WorkItem]:
    document = Document("text", text)
    remaining = sentences_in(document)
    while sentences := list(islice(remaining, SENTENCES_AT_A_TIME)):
        windows = windowing(sentences, extractor.subwords, extractor.max_subwords)
        result.statistics.add(len(sentences), windows)
        bounded: set[int] = set()
        for example in windows.examples:
            yield _item(extractor, document, sentences[example.sentence], example, result, bounded)


def _item(
    extractor: Extractor,
    document: Document,
    sentence: Sentence,
    example: Example,
    result: TextResult,
    bounded: set[int],
) -> WorkItem:
    """A window to score; `bounded` are the sentences already counted as bounded in decoding."""

    def receive(logits: NDArray[np.floating[Any]]) -> None:
        decoding = extractor.decode(example, logits)
        if not decoding.complete and example.sentence not in bounded:
            bounded.add(example.sentence)
            result.statistics.bounded += 1
        for scored in decoding.mentions:
            threshold = extractor.thresholds.get(scored.mention.label, extractor.threshold)
            if scored.score >= threshold:
                result.entities.append(entity_of(document, sentence, scored.mention, scored.score))

    return WorkItem(example, receive)
