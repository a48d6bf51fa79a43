"""A stream of documents in chunks of sentences: neither their number nor the length of one
fills the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from trigner.mentions import Document, Entity, Sentence
from trigner.text import sentences_in

WORDS = 20_000
"""Words of a chunk, at most; a longer sentence goes alone."""

DOCUMENTS = 64
"""Documents that end in a chunk, at most."""


@dataclass
class Unfinished:
    """A document without its annotations, and what was found in it so far."""

    document: Document
    entities: list[Entity] = field(default_factory=list)

    def finished(self) -> Document:
        """The document with what was found, by place and label; what is found next is another's."""
        found, self.entities = self.entities, []
        return replace(self.document, entities=tuple(ordered(found)))


def ordered(entities: Iterable[Entity]) -> list[Entity]:
    """Entities by offset and label, as all results have them."""
    return sorted(entities, key=lambda e: (e.fragments, e.label))


@dataclass
class Chunk:
    """Sentences that are scored together, the document of each, and the documents that end here."""

    sentences: list[Sentence] = field(default_factory=list)
    owners: list[Unfinished] = field(default_factory=list)
    ending: list[Unfinished] = field(default_factory=list)
    words: int = 0


def chunks(documents: Iterable[Document]) -> Iterator[Chunk]:
    """All sentences of the documents, in order; a long document has several chunks.

    No more is drawn from `documents` than the next chunk needs. An error of theirs comes when
    the documents before it have come.
    """
    chunk = Chunk()
    drawn = _Drawn(documents)
    for document in drawn:
        unfinished = Unfinished(replace(document, entities=(), extras=()))
        for sentence in sentences_in(unfinished.document):
            if chunk.words and chunk.words + len(sentence.words) > WORDS:
                yield chunk
                chunk = Chunk()
            chunk.sentences.append(sentence)
            chunk.owners.append(unfinished)
            chunk.words += len(sentence.words)
        chunk.ending.append(unfinished)
        if len(chunk.ending) >= DOCUMENTS:
            yield chunk
            chunk = Chunk()
    if chunk.ending:
        yield chunk
    if drawn.error is not None:
        raise drawn.error


class _Drawn:
    """Documents up to the first error, which is kept."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.error: Exception | None = None
        self._documents = documents

    def __iter__(self) -> Iterator[Document]:
        try:
            yield from self._documents
        except Exception as error:
            self.error = error
