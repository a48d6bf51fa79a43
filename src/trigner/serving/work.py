"""What a request needs done: windows of words to be scored, one after the other.

Work is cut up as it is done, so that a long request neither fills the memory nor holds up others.
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
"""Windowing into subwords together."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A window of words and where its logits `[L, L, C]`, padding behind them, are wanted."""

    example: Example
    receive: Callable[[NDArray[np.floating[Any]]], None]


class Work(Generic[T]):
    """The tickets of one request and, in `future`, what comes of them.

    Used by the worker alone, but for `future`: whoever waits for it may cancel it, and nothing
    more is done then.
    """

    def __init__(self, tickets: Iterable[Ticket], result: Callable[[], T]) -> None:
        self.future: Future[T] = Future()
        self.begun = False
        self._tickets: Iterator[Ticket] = iter(tickets)
        self._following: Ticket | None = None
        self._result = result
        self._out = 0

    def take(self) -> Ticket | None:
        """The next ticket; None when there is no other."""
        if not self.begun:
            self.begun = True
            self._following = next(self._tickets, None)
        ticket = self._following
        if ticket is not None:
            self._out += 1
            self._following = next(self._tickets, None)
        return ticket

    @property
    def has_more(self) -> bool:
        """Whether `take` has something to give."""
        return not self.begun or self._following is not None

    def receive(self, ticket: Ticket, logits: NDArray[np.floating[Any]]) -> None:
        """The logits of a ticket that was taken."""
        ticket.receive(logits)
        self._out -= 1

    def finish(self) -> None:
        """Hand over the result if this was all."""
        if not self.has_more and self._out == 0 and not self.future.done():
            with suppress(InvalidStateError):  # cancelled at this very moment
                self.future.set_result(self._result())

    def fail(self, error: BaseException) -> None:
        """End with an error."""
        with suppress(InvalidStateError):
            self.future.set_exception(error)


@dataclass
class Found:
    """Entities of one text, and what its sentences met."""

    entities: list[Entity] = field(default_factory=list)
    tally: RunStatistics = field(default_factory=RunStatistics)

    def ordered(self) -> Found:
        """The same as `Extractor` gives it."""
        entities = sorted(self.entities, key=lambda e: (e.fragments, e.label))
        return replace(self, entities=entities)


def extraction(
    extractor: Extractor, texts: Sequence[str], threshold: float | None = None
) -> Work[list[Found]]:
    """The entities of texts, as `extractor` finds them; `threshold` in place of its own."""
    found = [Found() for _ in texts]
    if threshold is not None:
        extractor = replace(extractor, threshold=threshold, thresholds={})
    tickets = (
        ticket
        for text, own in zip(texts, found, strict=True)
        for ticket in _tickets(replace(extractor, tally=own.tally), text, own)
    )
    return Work(tickets, lambda: [own.ordered() for own in found])


def _tickets(extractor: Extractor, text: str, found: Found) -> Iterator[Ticket]:
    document = Document("text", text)
    waiting = sentences_in(document)
    while sentences := list(islice(waiting, SENTENCES_AT_A_TIME)):
        parts = windowing(sentences, extractor.subwords, extractor.max_subwords)
        found.tally.add(len(sentences), parts)
        bounded: set[int] = set()
        for example in parts.examples:
            yield _ticket(extractor, document, sentences[example.sentence], example, found, bounded)


def _ticket(
    extractor: Extractor,
    document: Document,
    sentence: Sentence,
    example: Example,
    found: Found,
    bounded: set[int],
) -> Ticket:
    """A window to score; `bounded` are the sentences known to have hit a bound of decoding."""

    def receive(logits: NDArray[np.floating[Any]]) -> None:
        decoding = extractor.decode(example, logits)
        if not decoding.complete and example.sentence not in bounded:
            bounded.add(example.sentence)
            found.tally.bounded += 1
        for scored in decoding.mentions:
            least = extractor.thresholds.get(scored.mention.label, extractor.threshold)
            if scored.score >= least:
                found.entities.append(entity_of(document, sentence, scored.mention, scored.score))

    return Ticket(example, receive)
