"""Many short documents: sentences of raw texts, as files that `extract`, `annotate` and Spark read.

There are fewer sentences than documents are asked for: the same ones come again and again, never
twice within one batch, under ids of their own.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from trigner.corpora import read
from trigner.text.sentences import split

SHIPPED = Path(__file__).parents[3] / "data" / "mini-adr"
SHORTEST = 4
GROUP = 50_000
"""Rows of a group of a Parquet file."""


@dataclass(frozen=True)
class Texts:
    """Sentences of so many words at most, and where they come from."""

    values: Sequence[str]
    longest: int
    source: str

    def row(self, number: int) -> dict[str, str]:
        """A document."""
        return {"id": str(number), "text": self.values[number % len(self.values)]}

    def told(self) -> str:
        """In words."""
        characters = sum(map(len, self.values)) / len(self.values)
        return (
            f"{len(self.values):,} sentences of {SHORTEST} to {self.longest} words"
            f" ({characters:.0f} characters on average) of {self.source}, over and over"
        )


def short_texts(folders: Sequence[Path], longest: int) -> Texts:
    """The sentences of the .txt files below folders, with their line ends, in any order.

    Without folders those of the shipped corpus.
    """
    if folders:
        # Bytes: reading as text would make one line end of several kinds.
        paths = [path for folder in folders for path in sorted(folder.rglob("*.txt"))]
        raw = [path.read_bytes().decode("utf-8") for path in paths]
    else:
        raw = [document.text for document in read(SHIPPED).documents]
    found = [
        text[sentence[0][0] : sentence[-1][1]]
        for text in raw
        for sentence in split(text)
        if SHORTEST <= len(sentence) <= longest
    ]
    if not found:
        where = ", ".join(str(folder) for folder in folders)
        raise SystemExit(f"{where}: no sentence of at most {longest} words in .txt files")
    random.Random(7).shuffle(found)
    names = " and ".join(folder.name for folder in folders) or "the shipped corpus"
    return Texts(found, longest, names)


def write_lines(texts: Texts, rows: int, path: Path) -> Path:
    """So many documents as JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(texts.row(number)) + "\n" for number in range(rows))
    return path


def write_parquet(texts: Texts, rows: int, path: Path) -> Path:
    """So many documents as a Parquet file."""
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, rows, GROUP):
            group = [texts.row(number) for number in range(first, min(rows, first + GROUP))]
            writer.write_table(pa.Table.from_pylist(group, schema))
    return path
