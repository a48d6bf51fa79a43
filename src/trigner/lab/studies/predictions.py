"""What a run found in the test part: the mentions themselves and the counts of each sentence.

Gzipped JSON without any text of the corpus: entities are labels and offsets, and sentences without
a mention are left out of the counts.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from trigner.errors import InputError
from trigner.evaluation import SLICES, SentenceCounts
from trigner.machine import atomic_write, remove_leftovers
from trigner.mentions import Document, Entity

FORMAT_VERSION = 1
MOST_SENTENCES = 10_000_000
DAMAGE = (
    *(OSError, EOFError, zlib.error, ValueError, TypeError),
    *(LookupError, AttributeError, RecursionError, OverflowError),
)
"""What reading a damaged file ends with."""


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


def write_predictions(path: Path, found: Mapping[str, SavedPredictions]) -> None:
    """Write what the models of one run found, by what chose them; whole or not at all."""
    written = {
        "format": FORMAT_VERSION,
        "chosen": {name: _as_json(each) for name, each in found.items()},
    }
    # No time in it: equal content makes equal files.
    data = gzip.compress(json.dumps(written, separators=(",", ":")).encode("utf-8"), mtime=0)
    remove_leftovers(path)
    with atomic_write(path) as write:
        write(data)


def read_predictions(path: Path) -> dict[str, SavedPredictions]:
    """What `write_predictions` wrote. Raises InputError for a file that is missing, damaged or of
    another version."""
    try:
        content = json.loads(gzip.decompress(path.read_bytes()))
        if content["format"] != FORMAT_VERSION:
            message = f"has format {content['format']!r}; this trigner reads {FORMAT_VERSION}"
            raise InputError(message, path=path)
        return {name: _from_json(each) for name, each in content["chosen"].items()}
    except DAMAGE as error:
        raise InputError(f"is damaged: {error}", path=path) from error


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
