"""Sentences of ready words as documents, and documents as sentences of words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trigner.corpora.json_shapes import Object
from trigner.corpora.reading import WITHOUT_WORDS, WriteReport
from trigner.machine import atomic_write
from trigner.mentions import Document, Entity, Extra, Mention, joined, surface_of

if TYPE_CHECKING:
    from trigner.text import Segmentation


@dataclass(frozen=True, slots=True)
class WordSentence:
    """A sentence for a format of ready words: its id, words, mentions and what else it came with.

    A mention stands as often as its document has it, `entities[i]` being what `mentions[i]` was
    there. `fields` are those of the document.
    """

    id: str
    words: tuple[str, ...]
    mentions: tuple[Mention, ...]
    entities: tuple[Entity, ...]
    extras: tuple[Extra, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)


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
    indices: Sequence[int], label: str, words: Sequence[str], note: Callable[[str], object]
) -> Mention:
    """A mention of word indices in any order; that they were sorted is noted.

    Raises ValueError when an index is outside the sentence, or none of its words has characters.
    """
    outside = [index for index in indices if not 0 <= index < len(words)]
    if outside:
        raise ValueError(f"word {outside[0]} is outside a sentence of {len(words)} words")
    if not any(words[index] for index in indices):
        raise ValueError(f"an entity of empty words {list(indices)}")
    ordered = tuple(sorted(set(indices)))
    if ordered != tuple(indices):
        note(f"word indices {list(indices)} sorted, duplicates removed")
    return Mention(ordered, label)


def between(first: int, last: int, words: Sequence[str]) -> Sequence[int]:
    """The indices from a first to a last word, inclusive. Raises ValueError when none are.

    Only the bounds are looked at when they are outside: they may be of any length.
    """
    if first > last:
        raise ValueError(f"words {first} to {last} end before they start")
    return range(first, last + 1) if first >= 0 and last < len(words) else (first, last)


def words_of(item: Object, *names: str) -> list[str]:
    """The list of strings under the first of these names. Raises ValueError for anything else.

    Published corpora have words that are empty: they are kept, and have no characters.
    """
    found = next((item[name] for name in names if name in item), None)
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise ValueError(f"expected an object with a list of strings `{names[0]}`")
    return found


def written_sentences(
    documents: Iterable[Document],
    dropped: Counter[str],
    *,
    keeps: str,
    of_document: Collection[str] | None = None,
    of_entity: Collection[str] | None = None,
) -> Iterator[WordSentence]:
    """The sentences of documents for a format of ready words, and what it drops.

    Texts of blanks have no sentences. `keeps` are the extras that it holds, the rest as for
    `fields_lost`.
    """
    for document in documents:
        sentences, unreachable = sentences_of(document)
        yield from sentences
        dropped[WITHOUT_WORDS] += not sentences
        dropped.update(dropped_with_words(document, unreachable, keeps=keeps))
        dropped.update(fields_lost(document, of_document=of_document, of_entity=of_entity))


def write_sentences(
    documents: Iterable[Document],
    path: Path,
    dropped: Counter[str],
    block: Callable[[WordSentence], str],
    *,
    keeps: str,
) -> WriteReport:
    """One file with the `block` of each sentence that has words; `keeps` as above."""
    with atomic_write(path, keep=True) as put:
        for sentence in written_sentences(documents, dropped, keeps=keeps):
            if sentence.words:
                put(block(sentence))
            else:  # given words, of which there are none
                dropped[WITHOUT_WORDS] += 1
    return WriteReport(1, dict(dropped))


def sentences_of(document: Document) -> tuple[list[WordSentence], int]:
    """A document's sentences, and how many entities do not fit on words of one sentence.

    A document with given words keeps its id; the sentences of others are called `id:1`, `id:2` ...
    """
    # Formats do not depend on splitting text unless a text has to be split.
    from trigner.text import segment

    segmentation = segment(document)
    mentions = _with_repetitions(document, segmentation)
    sentences = segmentation.sentences
    fields = document.fields
    if document.words is not None:
        words = sentences[0].words if sentences else ()
        given = mentions[0] if mentions else []
        found = [_sentence(document.id, words, given, fields, document.extras)]
    else:
        found = [
            _sentence(f"{document.id}:{number}", sentence.words, own, fields)
            for number, (sentence, own) in enumerate(zip(sentences, mentions, strict=True), 1)
        ]
    return found, len(segmentation.unreachable)


def _sentence(
    id: str,
    words: tuple[str, ...],
    pairs: Sequence[tuple[Mention, Entity]],
    fields: Mapping[str, Any],
    extras: tuple[Extra, ...] = (),
) -> WordSentence:
    mentions, entities = tuple(m for m, _ in pairs), tuple(e for _, e in pairs)
    return WordSentence(id, words, mentions, entities, extras, fields)


def dropped_with_words(document: Document, unreachable: int, *, keeps: str) -> dict[str, int]:
    """What formats of ready words cannot hold; `keeps` are the extras that one holds."""
    return {
        "entities that do not fit on words of one sentence": unreachable,
        "scores": sum(e.score is not None for e in document.entities),
        "entity ids": sum(e.id is not None for e in document.entities),
        "line breaks and spaces of raw text": int(document.words is None),
        "relations or notes": sum(e.format != keeps for e in document.extras),
    }


def fields_lost(
    document: Document,
    *,
    of_document: Collection[str] | None = None,
    of_entity: Collection[str] | None = None,
) -> Counter[str]:
    """How many own fields a format cannot hold: these names mean something else in it.

    None: it holds no fields at all.
    """

    def lost(fields: Mapping[str, Any], taken: Collection[str] | None) -> int:
        return len(fields) if taken is None else len(fields.keys() & {*taken})

    found = Counter({"fields of documents": lost(document.fields, of_document)})
    found["fields of entities"] = sum(lost(e.fields, of_entity) for e in document.entities)
    return +found


def _with_repetitions(
    document: Document, segmentation: Segmentation
) -> list[list[tuple[Mention, Entity]]]:
    """The mentions of each sentence with their entities: segmentation gives equal ones once."""
    from trigner.text import located

    sentences, lost = segmentation.sentences, {id(u.entity) for u in segmentation.unreachable}
    if len(sentences) == 1 and len(sentences[0].mentions) + len(lost) == len(document.entities):
        reached = (entity for entity in document.entities if id(entity) not in lost)
        return [list(zip(sentences[0].mentions, reached, strict=True))]
    found: list[list[tuple[Mention, Entity]]] = [[] for _ in sentences]
    for entity, place in located(document, sentences):
        if not isinstance(place, str):
            number, mention = place
            found[number].append((mention, entity))
    return found
