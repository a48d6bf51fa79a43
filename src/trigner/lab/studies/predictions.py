"""What a run found in the test part: the mentions themselves and the counts of each sentence.

JSON without any text of the corpus: entities are labels and offsets, and sentences without a
mention are left out of the counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trigner.errors import InputError
from trigner.evaluation import SLICES, SentenceCounts
from trigner.mentions import Document, Entity

MOST_SENTENCES = 10_000_000


@dataclass(frozen=True)
class SavedPredictions:
    """Counts on gold, and documents without texts that hold what was found."""

    counts: SentenceCounts
    documents: tuple[Document, ...]

    def on(self, gold: Sequence[Document]) -> list[Document]:
        """What was found as documents of this gold, in its order.

        Raises InputError for other documents.
        """
        found = {document.id: document.entities for document in self.documents}
        of_gold = {document.id for document in gold}
        if unknown := found.keys() - of_gold:
            raise InputError(f"predictions on {min(unknown)!r}, which is not among these documents")
        if lacking := of_gold - found.keys():
            raise InputError(f"no predictions on {min(lacking)!r}")
        return [
            replace(
                document,
                entities=tuple(
                    replace(e, text=document.surface(e.fragments)) for e in found[document.id]
                ),
                extras=(),
            )
            for document in gold
        ]

    def is_paired_with(self, other: SavedPredictions) -> bool:
        """Whether the sentences of both are the same, one by one."""
        return [d.id for d in self.documents] == [d.id for d in other.documents]


def predictions_text(found: Mapping[str, SavedPredictions]) -> str:
    """What the models of one run found, by what chose them, as one line of JSON."""
    written = {name: _as_json(each) for name, each in found.items()}
    return json.dumps(written, separators=(",", ":"))


def predictions_of(text: str) -> dict[str, SavedPredictions]:
    """What `predictions_text` wrote. Raises ValueError, TypeError, LookupError, AttributeError,
    RecursionError or OverflowError for anything else."""
    return {name: _from_json(each) for name, each in json.loads(text).items()}


def _as_json(found: SavedPredictions) -> dict[str, Any]:
    sparse = {}
    for name, counts in found.counts.slices.items():
        rows = np.flatnonzero(counts.any(axis=1))
        sparse[name] = [[int(row), *map(int, counts[row])] for row in rows]
    return {
        "sentences": found.counts.sentences,
        "counts": sparse,
        "entities": {
            d.id: [
                [e.label, *e.fragments, None if e.score is None else round(e.score, 4)]
                for e in d.entities
            ]
            for d in found.documents
        },
    }


def _from_json(content: Mapping[str, Any]) -> SavedPredictions:
    sentences = int(content["sentences"])
    if not 0 <= sentences <= MOST_SENTENCES:
        raise ValueError(f"{sentences} sentences")
    slices = {}
    for name in SLICES:
        counts = np.zeros((sentences, 3), dtype=np.int64)
        for row, *values in content["counts"][name]:
            if not 0 <= row < sentences:
                raise ValueError(f"sentence {row} of {sentences}")
            counts[row] = values
        slices[name] = counts
    documents = tuple(
        Document(
            name,
            "",
            tuple(
                Entity(label, tuple((int(a), int(b)) for a, b in fragments), "", score)
                for label, *fragments, score in entities
            ),
        )
        for name, entities in content["entities"].items()
    )
    return SavedPredictions(SentenceCounts(slices), documents)
