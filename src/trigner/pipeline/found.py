"""What an extractor gives: documents with their entities, and parts of long ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from trigner.mentions import Document, Entity
from trigner.pipeline.statistics import RunStatistics


@dataclass(frozen=True, slots=True)
class Extracted:
    """What `Extractor.batch` gives for one document: the document, or why there is none."""

    id: str
    document: Document | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class PartialResult:
    """What was found in the next sentences of a document, by place and label.

    `document` is without entities, `end` how many of its characters are done. The entities of all
    partial results of a document, one after the other, are its entities, in order.
    """

    document: Document
    entities: tuple[Entity, ...]
    end: int
    is_last: bool


def assembled(partial_results: Iterable[PartialResult]) -> Iterator[Document]:
    """The documents of partial results, with all that was found in them."""
    entities: list[Entity] = []
    for partial_result in partial_results:
        entities += partial_result.entities
        if partial_result.is_last:
            yield replace(partial_result.document, entities=tuple(entities))
            entities.clear()


class Run:
    """Documents with what was found, in order; `statistics` are of all that was read."""

    def __init__(self, documents: Iterator[Document], statistics: RunStatistics) -> None:
        self.statistics = statistics
        self._documents = documents

    def __iter__(self) -> Iterator[Document]:
        return self

    def __next__(self) -> Document:
        return next(self._documents)
