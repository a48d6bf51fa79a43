"""Sentences of ready words as documents, and documents as sentences of words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from trigner.mentions import Document, Entity, Fragment, Mention, Sentence


@dataclass(frozen=True, slots=True)
class WordSentence:
    """A sentence for a format of ready words: its id, words and mentions."""

    id: str
    words: tuple[str, ...]
    mentions: tuple[Mention, ...]


def document_of(name: str, words: Sequence[str], mentions: Sequence[Mention]) -> Document:
    """One sentence as a document: the words joined by blanks, mentions on their characters."""
    ends = list(accumulate(len(word) + 1 for word in words))
    ranges = tuple((end - 1 - len(word), end - 1) for word, end in zip(words, ends, strict=True))
    text = " ".join(words)
    entities = []
    for mention in mentions:
        fragments = _runs(mention.words, ranges)
        surface = " ".join(text[start:end] for start, end in fragments)
        entities.append(Entity(mention.label, fragments, surface))
    return Document(name, text, tuple(entities), words=ranges)


def sentences_of(documents: Sequence[Document]) -> tuple[list[WordSentence], int]:
    """All sentences of the documents, and how many entities do not fit on words of one sentence.

    A document with given words keeps its id; the sentences of others are called `id:1`, `id:2` ...
    """
    # Formats do not depend on splitting text unless a text has to be split.
    from trigner.text import segment

    found: list[WordSentence] = []
    unreachable = 0
    for document in documents:
        segmentation = segment(document)
        unreachable += len(segmentation.unreachable)
        if document.words is not None:
            found += _given(document, segmentation.sentences)
            continue
        for number, sentence in enumerate(segmentation.sentences, 1):
            found.append(WordSentence(f"{document.id}:{number}", sentence.words, sentence.mentions))
    return found, unreachable


def _given(document: Document, sentences: Sequence[Sentence]) -> Iterator[WordSentence]:
    if not sentences:
        yield WordSentence(document.id, (), ())
    for sentence in sentences:
        yield WordSentence(document.id, sentence.words, sentence.mentions)


def _runs(words: Sequence[int], ranges: Sequence[Fragment]) -> tuple[Fragment, ...]:
    fragments: list[Fragment] = []
    previous: int | None = None
    for word in words:
        start, end = ranges[word]
        if previous is not None and word == previous + 1:
            fragments[-1] = (fragments[-1][0], end)
        else:
            fragments.append((start, end))
        previous = word
    return tuple(fragments)
