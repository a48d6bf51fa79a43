"""Scores taken apart into sentences: what tests of significance resample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from trigner.arrays import Integers
from trigner.evaluation.matching import matched
from trigner.evaluation.scores import Pairs, by_slice, paired, sentence_kinds
from trigner.mentions import Document
from trigner.text import segment

SLICES = ("overall", "sentences_with_discontinuous", "discontinuous")
"""Slices of `Scores` that are compared, in the order of the paper's tables."""


@dataclass(frozen=True, slots=True)
class SentenceCounts:
    """Counts `[S, 3]` of each slice of `SLICES`: correct, predicted and gold mentions.

    The S sentences come in the order of the gold documents.
    """

    slices: Mapping[str, Integers]

    @property
    def sentences(self) -> int:
        """Sentences of all documents, those without mentions too."""
        return len(self.slices["overall"])


def sentence_counts(gold: Iterable[Document], predicted: Iterable[Document]) -> SentenceCounts:
    """What `score` counts, sentence by sentence: the sums over sentences are its scores.

    Raises InputError as `score` does.
    """
    together = matched(gold, predicted)
    pairs = paired(together, [segment(document) for document, _ in together])
    firsts = [0, *accumulate(pairs.sentences)]
    slices = by_slice(pairs, sentence_kinds(pairs))
    return SentenceCounts({name: _counted(slices[name], firsts) for name in SLICES})


def _counted(pairs: Pairs, firsts: Sequence[int]) -> Integers:
    counts = np.zeros((firsts[-1], 3), dtype=np.int64)
    columns = (pairs.gold & pairs.predicted, pairs.predicted, pairs.gold)
    for column, mentions in enumerate(columns):
        for document, sentence, _ in mentions:
            counts[firsts[document] + sentence, column] += 1
    return counts
