"""Rows in files of every kind, what finds something in them without a model, outputs read back."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import trigner
from trigner.pipeline.bulk.tables import ADDED
from trigner.pipeline.statistics import RunStatistics


@dataclass(frozen=True)
class FindPain:
    """Finds `pain`; a text that holds `bad` is an error."""

    def __call__(self, table):
        texts = table.column("text").to_pylist()
        bad = [text is None or "bad" in text for text in texts]
        entities = [None if no else found_in(t) for t, no in zip(texts, bad, strict=True)]
        errors = ["bad" if no else None for no in bad]
        found = [pa.array(entities, ADDED[0].type), pa.array(errors, pa.string())]
        return pa.table(found, schema=pa.schema(ADDED)), RunStatistics(sentences=len(texts))


@dataclass(frozen=True)
class EndsOnSome(FindPain):
    """Ends its process when a text begins with `end`; once, if there is a file to be made."""

    once: str | None = None

    def __call__(self, table):
        if any(text.startswith("end") for text in table.column("text").to_pylist()):
            try:
                if self.once:
                    os.close(os.open(self.once, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(table)


@dataclass(frozen=True)
class EndsAtOnce:
    """Ends its process before it has begun."""

    def __call__(self, table):
        os._exit(1)


@dataclass(frozen=True)
class RaisesOnSome(FindPain):
    """Raises what is not our error, at once or when a text begins so."""

    start: str

    def __call__(self, table):
        texts = table.column("text").to_pylist()
        if not self.start or any(text.startswith(self.start) for text in texts):
            raise OSError("x")
        return super().__call__(table)


@contextmanager
def ray_files():
    """A folder for Ray's files: its sockets need a short name."""
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def found_in(text):
    at = text.find("pain")
    fragment = {"start": at, "end": at + 4}
    entity = {"label": "ADR", "fragments": [fragment], "text": "pain", "score": 0.5}
    return [] if at < 0 else [entity]


SENTENCES = (
    "my left leg hurt .",
    "numb arm after the second tablet .",
    "no pain .",
    "the right arm",
)


def rows_of(number):
    return [
        {"id": str(n % 7), "text": SENTENCES[n % 4], "by": f"author {n}"} for n in range(number)
    ]


def found(model, rows, file, **options):
    """What a whole output has for rows with an id, by one extraction for each text."""
    extract = trigner.load(model, **options)
    entities = {text: as_structs(extract(text)) for text in {row["text"] for row in rows}}
    return [
        {
            **{"id": row["id"], "entities": entities[row["text"]], "error": None},
            **{"file": str(file), "row": n},
        }
        for n, row in enumerate(rows)
    ]


def as_structs(document):
    return [
        {**e.to_dict(), "fragments": [{"start": a, "end": b} for a, b in e.fragments]}
        for e in document.entities
    ]


def write_rows(path, rows):
    """Rows (dictionaries of strings, all with the same keys) as a file of the kind of its name."""
    table = pa.table({name: [row[name] for row in rows] for name in rows[0]})
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=7)
    elif path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        if path.suffix == ".zst":
            with pa.CompressedOutputStream(str(path), "zstd") as file:
                file.write(data)
        else:
            path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def short_parquet(path):
    """A Parquet file of three rows whose first row group says that it has none of its two."""
    table = pa.table({"id": ["a", "b", "c"], "text": ["numb arm", "pain", "x"]})
    pq.write_table(table, path, row_group_size=2)
    content = path.read_bytes()
    for place in range(len(content) - 9, 0, -1):  # before the footer's length and magic number
        path.write_bytes(content[:place] + b"\0" + content[place + 1 :])
        try:
            about = pq.read_metadata(path)
            if about.num_rows == 3 and [about.row_group(n).num_rows for n in (0, 1)] == [0, 1]:
                return
        except (OSError, ValueError):
            pass
    raise AssertionError("no byte of the footer is the number of rows")


def read_rows(folder):
    """The rows of an output, in order of source and row."""
    parts = sorted(folder.glob("part-*"))
    if parts and parts[0].suffix == ".jsonl":
        return [json.loads(line) for part in parts for line in part.read_text("utf-8").splitlines()]
    return [row for part in parts for row in pq.read_table(part).to_pylist()]
