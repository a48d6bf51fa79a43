"""W2NER's word-word relations: next-neighbouring words and typed tail-head words.

Li et al., Unified Named Entity Recognition as Word-Word Relation Classification, AAAI 2022.
A mention with the words `w1 < ... < wk` becomes the links `(w1, w2), ..., (wk-1, wk)` above the
diagonal (NNW, next-neighbouring word) and the cell `(wk, w1)` on or below it (THW, tail-head word),
whose class is the mention's type. Decoding reads every increasing path of links from a head to a
tail that some THW cell licenses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from trigner.arrays import Floats, Integers, Logits, Tags
from trigner.mentions import Mention, ScoredMention
from trigner.schemes.paths import Links, best_paths
from trigner.schemes.scheme import Decoding, Encoding, TagGroup, TagSpace, check

NONE, NNW, FIRST_THW = 0, 1, 2


@dataclass(frozen=True, slots=True)
class W2ner:
    """Grid of word pairs with one class per cell: NONE, NNW or THW-type.

    `max_mentions` bounds what one sentence decodes to; the best are kept, and `Decoding.complete`
    is False. None removes the bound: an early model can then produce exponentially many mentions.
    """

    labels: tuple[str, ...]
    max_mentions: int | None = 1000
    name: str = field(default="w2ner", init=False)
    tag_space: TagSpace = field(default=TagSpace.EXCLUSIVE_GRID, init=False)
    groups: tuple[TagGroup, ...] = field(default=(), init=False)

    @property
    def tags(self) -> tuple[str, ...]:
        """NONE, NNW, then THW-type for each label."""
        return ("NONE", "NNW", *(f"THW-{label}" for label in self.labels))

    def encode(self, mentions: Sequence[Mention], length: int) -> Encoding:
        """Tags `[L, L]`. Of mentions with equal head and tail but different types the last wins."""
        check(mentions, self.labels, length)
        tags = np.zeros((length, length), dtype=np.int64)
        corner_label: dict[tuple[int, int], str] = {}
        for mention in mentions:
            words = mention.words
            corner = (words[-1], words[0])
            corner_label[corner] = mention.label
            tags[corner] = FIRST_THW + self.labels.index(mention.label)
            tags[words[:-1], words[1:]] = NNW
        lost = (m for m in mentions if corner_label[m.words[-1], m.words[0]] != m.label)
        return Encoding(tags, tuple(lost))

    def decode(self, scores: Logits) -> Decoding:
        """Mentions from scores `[L, L, C]`; each cell has its best class.

        A mention's score is the product of the softmax probabilities of its cells.
        """
        classes = _best_classes(scores)
        rows, columns = np.nonzero(classes)
        # Classes first: numpy's reductions over a short last axis are slow.
        cells = np.ascontiguousarray(scores[rows, columns].T, dtype=np.float64)
        cells -= cells.max(axis=0)
        log_probability = -np.log(np.exp(cells, out=cells).sum(axis=0))
        return self._decode_cells(
            rows, columns, classes[rows, columns], log_probability, len(classes)
        )

    def decode_tags(self, tags: Tags) -> Decoding:
        """Mentions from tags `[L, L]`, each with score 1."""
        rows, columns = np.nonzero(tags)
        return self._decode_cells(
            rows, columns, tags[rows, columns].astype(np.int64), np.zeros(len(rows)), len(tags)
        )

    def _decode_cells(
        self,
        rows: Integers,
        columns: Integers,
        classes: Integers,
        log_probability: Floats,
        length: int,
    ) -> Decoding:
        is_link = (classes == NNW) & (rows < columns)
        is_corner = (classes >= FIRST_THW) & (rows >= columns)
        if not is_corner.any():
            return Decoding(())
        links = Links(rows[is_link], columns[is_link], log_probability[is_link], length)
        tails, heads = rows[is_corner], columns[is_corner]
        paths = best_paths(links, heads, tails, log_probability[is_corner], self.max_mentions)
        corners = classes[is_corner]
        mentions = tuple(
            ScoredMention(Mention(words, self.labels[corners[corner] - FIRST_THW]), math.exp(score))
            for score, corner, words in paths.found
        )
        return Decoding(mentions, paths.complete)


def _best_classes(scores: Logits) -> Integers:
    """`scores.argmax(axis=-1)`, class by class: numpy is slow along a short last axis."""
    best = scores[..., 0].copy()
    classes = np.zeros(best.shape, dtype=np.int64)
    for number in range(1, scores.shape[-1]):
        own = scores[..., number]
        classes[own > best] = number
        np.maximum(best, own, out=best)
    return classes
