"""A stream of documents in chunks of sentences: neither their number nor the length of one
fills the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from trigner.errors import InputError
from trigner.mentions import Document, Entity, Sentence, shortened
from trigner.pipeline.texts import checked_documents
from trigner.text import sentences_in

WORDS = 20_000
"""Words of a chunk, at most; a longer sentence goes alone."""

DOCUMENTS = 64
"""Documents that end in a chunk, at most."""


@dataclass
class DocumentPart:
    """Neighbouring sentences of a document, which is there without its annotations."""

    document: Document
    sentences: list[Sentence] = field(default_factory=list)
    is_last: bool = False


def ordered(entities: Iterable[Entity]) -> list[Entity]:
    """Entities by offset and label, as all results have them."""
    return sorted(entities, key=lambda e: (e.fragments, e.label))


@dataclass
class Chunk:
    """Parts of documents that are scored together, and how many words and documents end in it."""

    parts: list[DocumentPart] = field(default_factory=list)
    words: int = 0
    ending: int = 0

    @property
    def sentences(self) -> list[Sentence]:
        """The sentences of all parts, in order."""
        return [sentence for part in self.parts for sentence in part.sentences]


def chunks(documents: Iterable[Document]) -> Iterator[Chunk]:
    """All sentences of the documents, in order; a long document has parts in several chunks.

    No more is drawn from `documents` than the next chunk needs. An error of theirs comes when
    the documents before it have come.
    """
    chunk = Chunk()
    drawn = _Drawn(documents)
    for document in drawn:
        bare = replace(document, entities=(), extras=())
        chunk.parts.append(DocumentPart(bare))
        for sentence in sentences_in(bare):
            if chunk.words and chunk.words + len(sentence.words) > WORDS:
                yield chunk
                chunk = Chunk([DocumentPart(bare)])
            chunk.parts[-1].sentences.append(sentence)
            chunk.words += len(sentence.words)
        chunk.parts[-1].is_last = True
        chunk.ending += 1
        if chunk.ending >= DOCUMENTS:
            yield chunk
            chunk = Chunk()
    if chunk.parts:
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
            for document in checked_documents(self._documents):
                text: object = document.text
                if not isinstance(text, str):
                    what = f"the text of document {shortened(document.id)} is not a text"
                    raise InputError(f"{what}: {shortened(text)}")
                yield document
        except Exception as error:
            self.error = error
