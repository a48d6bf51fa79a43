"""Documents as sentences: entities on characters become mentions on words, and back."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, islice
from typing import Literal

from trigner.mentions import CONTEXT_WORDS, Document, Entity, Fragment, Mention, Sentence, joined
from trigner.text.sentences import sentence_words

Reason = Literal["crosses a sentence boundary", "not aligned to words", "empty"]


@dataclass(frozen=True, slots=True)
class Unreachable:
    """An entity that no mention on the words of one sentence can stand for, and why."""

    entity: Entity
    reason: Reason


@dataclass(frozen=True, slots=True)
class Segmentation:
    """A document's sentences with their mentions, and the entities that have none.

    A mention stands once in its sentence however often its document repeats it; mentions are in
    the order of the document's entities.
    """

    sentences: tuple[Sentence, ...]
    unreachable: tuple[Unreachable, ...]


def segment(document: Document) -> Segmentation:
    """Sentences of a document, with the mentions that its entities are.

    A document with given words is one sentence; one without any word has none. An entity is
    reachable when the words inside its merged fragments, and nothing else, make up exactly those
    fragments, all in one sentence.
    """
    without = tuple(sentences_in(document))
    mentions: list[dict[Mention, None]] = [{} for _ in without]
    unreachable = []
    for entity, found in located(document, without):
        if isinstance(found, str):
            unreachable.append(Unreachable(entity, found))
        else:
            index, mention = found
            mentions[index][mention] = None
    sentences = (
        replace(sentence, mentions=tuple(own)) if own else sentence
        for sentence, own in zip(without, mentions, strict=True)
    )
    return Segmentation(tuple(sentences), tuple(unreachable))


def located(
    document: Document, sentences: Sequence[Sentence]
) -> Iterator[tuple[Entity, tuple[int, Mention] | Reason]]:
    """Each entity with the index of its sentence and the mention that it is there, or why there is
    none.

    `sentences` are all of the document.
    """
    layout = _Layout(document, tuple(sentence.offsets for sentence in sentences))
    return ((entity, layout.locate(entity)) for entity in document.entities)


def sentences_in(document: Document) -> Iterator[Sentence]:
    """The sentences that `segment` finds, without mentions, each when it is asked for.

    Those behind it are read as far as its context reaches.
    """
    left: deque[str] = deque(maxlen=CONTEXT_WORDS)
    waiting: deque[Sentence] = deque()
    ahead = 0  # words of those that wait

    def first() -> Sentence:
        nonlocal ahead
        sentence = waiting.popleft()
        ahead -= len(sentence.words)
        behind = chain.from_iterable(other.words for other in waiting)
        right = tuple(islice(behind, CONTEXT_WORDS))
        found = replace(sentence, left=tuple(left), right=right)
        left.extend(sentence.words)
        return found

    for index, offsets in enumerate(_sentence_words(document)):
        words = tuple(document.text[start:end] for start, end in offsets)
        waiting.append(Sentence(document.id, index, words, offsets))
        ahead += len(words)
        while ahead - len(waiting[0].words) >= CONTEXT_WORDS:
            yield first()
    while waiting:
        yield first()


def entity_of(
    document: Document, sentence: Sentence, mention: Mention, score: float | None = None
) -> Entity:
    """The entity that `mention` in `sentence` is: characters of the document's text.

    Words that follow one another are one fragment. Raises IndexError when the mention has words
    that the sentence has not.
    """
    fragments = joined(mention.words, sentence.offsets)
    if document.words is None:
        fragments = document.merged(fragments)
    return Entity(mention.label, fragments, document.surface(fragments), score)


def sentence_starts(document: Document) -> tuple[int, ...]:
    """Where each sentence of the document starts: the first character of its first word."""
    return tuple(words[0][0] for words in _sentence_words(document))


def sentence_at(starts: Sequence[int], character: int) -> int:
    """Index of the sentence that a character belongs to, given `sentence_starts`.

    Characters between sentences belong to the one before them, characters before the first
    sentence to the first (also when there is none at all).
    """
    return max(bisect_right(starts, character) - 1, 0)


class _Layout:
    """The words of a document as flat sorted arrays, to find those of an entity by bisection."""

    def __init__(self, document: Document, sentences: Sequence[tuple[Fragment, ...]]) -> None:
        self.document = document
        self.sentence_starts = [words[0][0] for words in sentences]
        self.first_words = [0, *accumulate(map(len, sentences))]
        self.words = [word for words in sentences for word in words]
        self.starts = [start for start, _ in self.words]

    def locate(self, entity: Entity) -> tuple[int, Mention] | Reason:
        """Sentence index and mention of an entity, or why it has none."""
        merged = self.document.merged(entity.fragments)
        chosen = self._chosen(merged, entity)
        if not merged and not chosen:
            return "empty"
        if merged:
            sentence = sentence_at(self.sentence_starts, merged[0][0])
            if sentence_at(self.sentence_starts, merged[-1][1] - 1) != sentence:
                return "crosses a sentence boundary"
        else:
            sentence = 0
        if not chosen or self.document.merged(joined(chosen, self.words)) != merged:
            return "not aligned to words"
        shift = self.first_words[sentence]
        return sentence, Mention(tuple(word - shift for word in chosen), entity.label)

    def _chosen(self, merged: Sequence[Fragment], entity: Entity) -> list[int]:
        """Words inside an entity's fragments."""
        chosen = self._words_inside(merged)
        if self.document.words is None:
            return chosen
        return sorted({*chosen, *self._blank_words(entity.fragments)})

    def _words_inside(self, fragments: Sequence[Fragment]) -> list[int]:
        """Words whose visible part lies inside a fragment."""
        inside = []
        for start, end in fragments:
            first = bisect_left(self.starts, start)
            if self.document.words is not None and first > 0:
                first -= 1  # a given word may start with blanks, which merged fragments leave out
            last = bisect_left(self.starts, end)
            for word in range(first, last):
                visible = self.document.merged([self.words[word]])
                if visible and start <= visible[0][0] and visible[0][1] <= end:
                    inside.append(word)
        return inside

    def _blank_words(self, fragments: Sequence[Fragment]) -> list[int]:
        """Given words of white space that lie inside the fragments as the source wrote them."""
        blank = []
        for start, end in fragments:
            for word in range(bisect_left(self.starts, start), bisect_left(self.starts, end)):
                first, last = self.words[word]
                if last <= end and not self.document.text[first:last].strip():
                    blank.append(word)
        return blank


def _sentence_words(document: Document) -> Iterator[tuple[Fragment, ...]]:
    if document.words is None:
        yield from sentence_words(document.text)
    elif document.words:
        yield document.words
