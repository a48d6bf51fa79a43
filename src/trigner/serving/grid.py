"""The word-pair grid of one sentence: the probabilities of the tags of each pair of words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trigner.batches import windowing
from trigner.errors import InputError
from trigner.inference import Extractor
from trigner.mentions import Document, Entity, Mention, Sentence
from trigner.schemes import Cell, Explaining, Scheme, TagSpace
from trigner.serving.work import Work, WorkItem
from trigner.text import entity_of, segment, sentence_at, sentence_starts


@dataclass(frozen=True, slots=True)
class Explained:
    """An entity and the cells `(row, column, tag)` that its score is the product of."""

    entity: Entity
    cells: tuple[Cell, ...]


@dataclass
class Grid:
    """One sentence: `probabilities [L, L, C]` of the scheme's `tags` for each pair of its words.

    A pair has one of the tags or, where the scheme says so, each of them with its own probability.
    """

    sentence: Sentence
    tags: tuple[str, ...]
    probabilities: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0, 0)))
    entities: list[Explained] = field(default_factory=list)


def sentence_around(text: str, character: int) -> Sentence:
    """The sentence that a character of a text belongs to. Raises InputError when there is none."""
    document = Document("text", text)
    sentences = segment(document).sentences
    if not sentences:
        raise InputError("the text contains no words")
    return sentences[sentence_at(sentence_starts(document), character)]


def grid(extractor: Extractor, text: str, sentence: Sentence) -> Work[Grid]:
    """The grid of a sentence of `text`.

    Raises InputError when the model's scheme has no grid, or the sentence is too long for one pass
    of the encoder.
    """
    if extractor.scheme.tag_space not in PROBABILITIES:
        raise InputError(f"the scheme {extractor.scheme.name} has no word-pair grid")
    examples = windowing([sentence], extractor.subwords, extractor.max_subwords).examples
    if len(examples) > 1:
        raise InputError("the sentence is too long for one pass of the encoder")
    result = Grid(sentence, tuple(extractor.scheme.tags))
    probabilities = PROBABILITIES[extractor.scheme.tag_space]

    def receive(logits: NDArray[np.floating[Any]]) -> None:
        start = len(extractor.subwords.special_words)
        end = start + len(sentence.words)
        whole = logits[:end, :end] / extractor.temperature
        result.probabilities = probabilities(whole[start:, start:])
        document = Document("text", text)
        scored = extractor.decode(examples[0], logits).mentions
        cells = _cells(extractor.scheme, [own.mention for own in scored], whole, start)
        result.entities += (
            Explained(entity_of(document, sentence, own.mention, own.score), places)
            for own, places in zip(scored, cells, strict=True)
        )

    return Work([WorkItem(examples[0], receive)], lambda: result)


def _cells(
    scheme: Scheme, mentions: Iterable[Mention], logits: NDArray[np.floating[Any]], start: int
) -> list[tuple[Cell, ...]]:
    """Of each mention the cells whose probabilities, multiplied, are its score.

    `logits [start + L, start + L, C]` are those that were decoded, with `start` special words,
    whose cells can decide which cells a mention rests on.
    """
    moved = [Mention(tuple(word + start for word in m.words), m.label) for m in mentions]
    if isinstance(scheme, Explaining):
        places = scheme.evidence(moved, logits)
    else:
        places = [_tagged(scheme.encode([mention], len(logits)).tags) for mention in moved]
    return [tuple((i - start, j - start, tag) for i, j, tag in own) for own in places]


def _tagged(tags: NDArray[np.integer[Any]]) -> tuple[Cell, ...]:
    if tags.ndim == 2:
        return tuple((int(i), int(j), int(tags[i, j])) for i, j in np.argwhere(tags))
    return tuple((int(i), int(j), int(tag)) for i, j, tag in np.argwhere(tags))


def _softmax(logits: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    weights = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    result: NDArray[np.float64] = weights / weights.sum(axis=-1, keepdims=True)
    return result


def _sigmoid(logits: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = 1 / (1 + np.exp(-logits.astype(np.float64).clip(-700, 700)))
    return result


PROBABILITIES = {TagSpace.EXCLUSIVE_GRID: _softmax, TagSpace.MULTI_LABEL_GRID: _sigmoid}
"""Logits of a sentence to probabilities, for the tag spaces that are grids."""
