"""The word-pair grid of one sentence: the probabilities of the tags of each pair of words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import numpy as np

from trigner.arrays import Floats
from trigner.errors import InputError
from trigner.mentions import Document, Entity, Sentence
from trigner.pipeline import Extractor
from trigner.schemes import Cell
from trigner.serving.work import Work, WorkItem
from trigner.systems import Grid, GridView, system_spec
from trigner.text import entity_of, segment, sentence_at, sentence_starts


@dataclass(frozen=True, slots=True)
class Explained:
    """An entity and the cells `(row, column, tag)` that its score is the product of."""

    entity: Entity
    cells: tuple[Cell, ...]


@dataclass
class SentenceGrid:
    """One sentence: `probabilities [L, L, C]` of the `tags` of each pair of its words."""

    sentence: Sentence
    tags: tuple[str, ...] = ()
    probabilities: Floats = field(default_factory=lambda: np.zeros((0, 0, 0)))
    entities: list[Explained] = field(default_factory=list)


def sentence_around(text: str, character: int) -> Sentence:
    """The sentence that a character of a text belongs to. Raises InputError when there is none."""
    document = Document("text", text)
    sentences = segment(document).sentences
    if not sentences:
        raise InputError("the text contains no words")
    return sentences[sentence_at(sentence_starts(document), character)]


def grid(extractor: Extractor, text: str, sentence: Sentence) -> Work[SentenceGrid]:
    """The grid of a sentence of `text`.

    Raises InputError when the model's system has no grid, or the sentence is too long for one pass
    of the encoder.
    """
    system_spec(extractor.system).require("grid")
    predictor = cast(GridView, extractor.predictor)
    inputs = predictor.prepare([sentence]).inputs
    if len(inputs) > 1:
        raise InputError("the sentence is too long for one pass of the encoder")
    result = SentenceGrid(sentence)

    def receive(found: Grid) -> None:
        result.tags, result.probabilities = found.tags, found.probabilities
        document = Document("text", text)
        result.entities += (
            Explained(entity_of(document, sentence, own.mention, own.score), cells)
            for own, cells in zip(found.mentions, found.cells, strict=True)
        )

    return Work([WorkItem(inputs[0], predictor.grids, receive)], lambda: result)
