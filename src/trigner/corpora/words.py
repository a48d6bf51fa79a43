"""Sentences of ready words as documents, and documents as sentences of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from trigner.corpora.reading import Reading
from trigner.mentions import Document, Entity, Extra, Mention, joined, surface_of

if TYPE_CHECKING:
    from trigner.text import Segmentation


@dataclass(frozen=True, slots=True)
class WordSentence:
    """A sentence for a format of ready words: its id, words, mentions and what else it came with.

    A mention stands as often as its document has it.
    """

    id: str
    words: tuple[str, ...]
    mentions: tuple[Mention, ...]
    extras: tuple[Extra, ...] = ()


def document_of(
    name: str, words: str | Sequence[str], mentions: Sequence[Mention] = ()
) -> Document:
    """A raw text as a document, or a sentence of words with its mentions.

    The text is the words joined by blanks. An empty word has no characters, and the range `(n, n)`.
    """
    if isinstance(words, str):
        return Document(name, words)
    ends = list(accumulate(len(word) + 1 for word in words))
    ranges = tuple((end - 1 - len(word), end - 1) for word, end in zip(words, ends, strict=True))
    text = " ".join(words)
    entities = []
    for mention in mentions:
        fragments = tuple((a, b) for a, b in joined(mention.words, ranges) if a < b)
        entities.append(Entity(mention.label, fragments, surface_of(text, fragments)))
    return Document(name, text, tuple(entities), words=ranges)


def checked(
    indices: Sequence[int],
    label: str,
    words: Sequence[str],
    reading: Reading,
    *,
    path: Path,
    line: int,
    where: str = "",
) -> Mention | None:
    """A mention of word indices in any order; None when it was bad.

    It is when an index is outside the sentence, or none of its words has characters.
    """
    outside = [index for index in indices if not 0 <= index < len(words)]
    if outside:
        message = f"{where}word {outside[0]} is outside a sentence of {len(words)} words"
        reading.bad(message, path=path, line=line)
        return None
    if not any(words[index] for index in indices):
        reading.bad(f"{where}an entity of empty words {list(indices)}", path=path, line=line)
        return None
    ordered = tuple(sorted(set(indices)))
    if ordered != tuple(indices):
        message = f"{where}word indices {list(indices)} sorted, duplicates removed"
        reading.note(message, path=path, line=line)
    return Mention(ordered, label)


def sentences_of(document: Document) -> tuple[list[WordSentence], int]:
    """A document's sentences, and how many entities do not fit on words of one sentence.

    A document with given words keeps its id; the sentences of others are called `id:1`, `id:2` ...
    """
    # Formats do not depend on splitting text unless a text has to be split.
    from trigner.text import segment

    segmentation = segment(document)
    mentions = _with_repetitions(document, segmentation)
    sentences = segmentation.sentences
    if document.words is not None:
        words = sentences[0].words if sentences else ()
        given = tuple(mentions[0]) if mentions else ()
        found = [WordSentence(document.id, words, given, document.extras)]
    else:
        found = [
            WordSentence(f"{document.id}:{number}", sentence.words, tuple(own))
            for number, (sentence, own) in enumerate(zip(sentences, mentions, strict=True), 1)
        ]
    return found, len(segmentation.unreachable)


def dropped_with_words(document: Document, unreachable: int, *, keeps: str) -> dict[str, int]:
    """What formats of ready words have no place for; `keeps` are the extras that one holds."""
    return {
        "entities that do not fit on words of one sentence": unreachable,
        "scores": sum(e.score is not None for e in document.entities),
        "entity ids": sum(e.id is not None for e in document.entities),
        "layouts of raw text": int(document.words is None),
        "relations or notes": sum(e.format != keeps for e in document.extras),
    }


def _with_repetitions(document: Document, segmentation: Segmentation) -> list[list[Mention]]:
    """The mentions of each sentence, one for each entity: segmentation gives equal ones once."""
    from trigner.text import entity_of, segment

    lost = {item.entity for item in segmentation.unreachable}
    reached = [entity for entity in document.entities if entity not in lost]
    sentences = segmentation.sentences
    if sum(len(sentence.mentions) for sentence in sentences) == len(reached):
        return [list(sentence.mentions) for sentence in sentences]
    found: list[list[Mention]] = [[] for _ in sentences]
    if document.words is not None:
        for entity in reached:
            found[0] += segment(replace(document, entities=(entity,))).sentences[0].mentions
        return found
    by_key = {
        document.key(entity_of(document, sentence, mention)): (number, mention)
        for number, sentence in enumerate(sentences)
        for mention in sentence.mentions
    }
    for entity in reached:
        number, mention = by_key[document.key(entity)]
        found[number].append(mention)
    return found
