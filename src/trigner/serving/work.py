"""The work of a request: inputs to be predicted on, one after the other.

Texts are segmented lazily, while they are scored: a long request neither fills the memory nor
delays the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Generic, TypeVar

from trigner.mentions import Document, Entity, ScoredMention, Sentence
from trigner.pipeline import Extractor, RunStatistics, best_first, ordered
from trigner.systems import Input, Prediction
from trigner.text import sentences_in

T = TypeVar("T")

SENTENCES_AT_A_TIME = 64
"""Sentences tokenized into subwords together."""


@dataclass(frozen=True, slots=True)
class WorkItem:
    """An input, what computes on inputs of its kind, and a callback for what that gives for it.

    `compute` is the predictor's `predict`, or its `grids`: items of the same are batched together.
    """

    input: Input
    compute: Callable[[Sequence[Any]], Sequence[Any]]
    receive: Callable[[Any], None]


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

    def receive(self, item: WorkItem, output: Any) -> None:
        """Pass on what was computed for an item that was taken."""
        item.receive(output)
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


def extraction(extractor: Extractor, texts: Sequence[str]) -> Work[list[TextResult]]:
    """The entities of texts, as `extractor` finds them."""
    results = [TextResult() for _ in texts]
    items = (
        item
        for text, result in zip(texts, results, strict=True)
        for item in _items(extractor, Document("text", text), result)
    )

    def in_order() -> list[TextResult]:
        for result in results:
            result.entities = ordered(result.entities)
        return results

    return Work(items, in_order)


def _items(extractor: Extractor, document: Document, result: TextResult) -> Iterator[WorkItem]:
    remaining = sentences_in(document)
    while sentences := list(islice(remaining, SENTENCES_AT_A_TIME)):
        prepared = extractor.predictor.prepare(sentences)
        result.statistics.add_prepared(len(sentences), prepared)
        inputs = Counter(own.sentence for own in prepared.inputs)
        windows = {n: _Windows(document, sentences[n], count) for n, count in inputs.items()}
        for own in prepared.inputs:
            receive = partial(_receive, extractor, windows[own.sentence], result)
            yield WorkItem(own, extractor.predictor.predict, receive)


@dataclass
class _Windows:
    """A sentence, how many of its windows are still to be predicted on, and what was found.

    `bounded` says whether decoding hit a bound in one of them.
    """

    document: Document
    sentence: Sentence
    remaining: int
    mentions: list[ScoredMention] = field(default_factory=list)
    bounded: bool = False


def _receive(
    extractor: Extractor, windows: _Windows, result: TextResult, prediction: Prediction
) -> None:
    """Add what was predicted on a window of a sentence."""
    result.statistics.on_special_words += prediction.on_special_words
    windows.mentions += prediction.mentions
    windows.bounded |= prediction.bounded
    windows.remaining -= 1
    if windows.remaining == 0:
        result.statistics.bounded += best_first(windows.mentions) or windows.bounded
        entities = extractor.entities(windows.document, windows.sentence, windows.mentions)
        result.entities += entities
