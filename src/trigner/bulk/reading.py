"""Sources -> batches of rows: the unit of work, read one after the other.

A row that cannot be read is a row with a reason; InputError is for what ends the reading of its
source.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from trigner.bulk.lines import Lines
from trigner.bulk.ranges import Ranges
from trigner.bulk.shapes import Columns, errors_named
from trigner.bulk.sources import InputFiles
from trigner.bulk.texts import why_not
from trigner.mentions import shortened

T = TypeVar("T")

ROWS = 256
BYTES = 100_000
"""Of a batch: some seconds of work of one core. A longer text goes alone."""

HELD = 4_000_000
"""Bytes of a Parquet file that are decoded at a time, by the average of its rows."""


@dataclass(frozen=True)
class RowBatch:
    """Neighbouring rows of a source, from the row `first` on.

    `unreadable` has the reasons of rows, counted in the batch, of which no text could be read;
    `share` is how much of the source was read with the batch.
    """

    source: int
    first: int
    texts: pa.ChunkedArray
    kept: pa.Table
    unreadable: dict[int, str] = field(default_factory=dict)
    share: float = 1.0

    @property
    def rows(self) -> int:
        return len(self.texts)

    @property
    def end(self) -> int:
        return self.first + self.rows

    def slice(self, start: int, stop: int) -> RowBatch:
        """Rows of the batch, counted in it."""
        return replace(
            self,
            first=self.first + start,
            texts=self.texts.slice(start, stop - start),
            kept=self.kept.slice(start, stop - start),
            unreadable={n - start: why for n, why in self.unreadable.items() if start <= n < stop},
        )


class Row(NamedTuple):
    """A row of lines: its text, which may be anything, and its columns that are kept."""

    number: int
    text: object
    kept: dict[str, str | None]
    unreadable: str | None
    share: float


def batches(
    index: int, source: InputFiles, columns: Columns, finished: Ranges, *, rows: int = ROWS
) -> Iterator[RowBatch]:
    """The rows of a source that are not finished, at most so many together.

    Raises InputError when it cannot be read.
    """
    if source.kind == "parquet":
        given = _parquet(index, source, columns, finished, rows)
    else:
        given = _gathered(index, columns, _ROWS_OF[source.kind](source, columns, finished), rows)
    while True:
        with errors_named(source):
            batch = next(given, None)
        if batch is None:
            return
        yield from _cut(batch)


def _cut(batch: RowBatch) -> Iterator[RowBatch]:
    """A batch in pieces of `BYTES`."""
    start, size = 0, 0
    for n, length in enumerate(pc.binary_length(batch.texts).to_pylist()):
        if n > start and size + (length or 0) > BYTES:
            yield batch.slice(start, n)
            start, size = n, 0
        size += length or 0
    if start < batch.rows:
        yield batch.slice(start, batch.rows)


def _parquet(
    index: int, source: InputFiles, columns: Columns, finished: Ranges, rows: int
) -> Iterator[RowBatch]:
    names = list(dict.fromkeys([columns.text, *(field.name for field in columns.kept)]))
    with source.files[0].open() as file, pq.ParquetFile(file) as parquet:
        total, first = parquet.metadata.num_rows, 0
        for group in range(parquet.num_row_groups):
            about = parquet.metadata.row_group(group)
            gaps = list(finished.gaps(first, first + about.num_rows))
            at_once = max(1, min(rows, HELD * about.num_rows // max(1, about.total_byte_size)))
            read = parquet.iter_batches(at_once, row_groups=[group], columns=names)
            for record in read if gaps else ():
                table = pa.table(record)
                whole = RowBatch(
                    index,
                    first,
                    table.column(columns.text).cast(pa.string()),
                    pa.table(
                        [table.column(own.name).cast(own.type) for own in columns.kept],
                        names=_names(columns),
                    ),
                    share=(first + table.num_rows) / total,
                )
                for start, stop in finished.gaps(whole.first, whole.end):
                    yield whole.slice(start - whole.first, stop - whole.first)
                first = whole.end
            first = first if gaps else first + about.num_rows


def _names(columns: Columns) -> list[str]:
    return [field.name for field in columns.kept]


def _texts(source: InputFiles, columns: Columns, finished: Ranges) -> Iterator[Row]:
    for number, file in _unfinished(source.files, finished):
        with file.open() as opened:
            data = opened.read()
        share = (number + 1) / len(source.files)
        kept: dict[str, str | None] = {"id": source.ids[number]}
        try:
            text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
        except UnicodeDecodeError as error:
            why = f"{file.name}: byte {error.start} is not UTF-8"
            yield Row(number, None, kept, why, share)
        else:
            yield Row(number, text, {**kept, "text": text}, None, share)


def _json(source: InputFiles, columns: Columns, finished: Ranges) -> Iterator[Row]:
    with Lines(source.files[0]) as lines:
        for number, line in _unfinished(lines, finished):
            value, why = _object(line)
            if why is None and columns.text not in value:
                why = f"the line has no `{columns.text}`"
            kept = {name: _string(value.get(name)) for name in _names(columns)}
            yield Row(number, value.get(columns.text), kept, why, lines.share)


def _object(line: bytes) -> tuple[dict[str, Any], str | None]:
    """The JSON object of a line; why it has none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {}, f"the line is not JSON: {error}"
    if not isinstance(value, dict):
        return {}, f"the line is not an object: {shortened(value)}"
    return value, None


def _string(value: object) -> str | None:
    """A JSON value as a column of strings has it."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _csv(source: InputFiles, columns: Columns, finished: Ranges) -> Iterator[Row]:
    csv.field_size_limit(sys.maxsize)
    with Lines(source.files[0]) as lines:
        read = csv.reader(lines.text())
        header = next(read, [])
        for number, cells in _unfinished(filter(None, read), finished):
            value: dict[str, str | None] = dict(zip(header, cells, strict=False))
            why = None
            if len(cells) != len(header):
                why = f"the row has {len(cells)} cells, and the header {len(header)}"
            yield Row(number, value.get(columns.text), value, why, lines.share)


def _unfinished(values: Iterable[T], finished: Ranges) -> Iterator[tuple[int, T]]:
    for number, value in enumerate(values):
        if finished.after(number) == number:
            yield number, value


def _gathered(index: int, columns: Columns, rows: Iterable[Row], most: int) -> Iterator[RowBatch]:
    """Neighbouring rows as batches of about the size that they are to have."""
    held: list[Row] = []
    size = 0
    for row in rows:
        full = len(held) >= most or size >= BYTES
        if held and (full or row.number != held[-1].number + 1):
            yield _batch(index, columns, held)
            held, size = [], 0
        held.append(row)
        size += len(row.text) if isinstance(row.text, str) else 0
    if held:
        yield _batch(index, columns, held)


def _batch(index: int, columns: Columns, rows: list[Row]) -> RowBatch:
    texts: list[object] = []
    kept: dict[str, list[str | None]] = {name: [] for name in _names(columns)}
    unreadable: dict[int, str] = {}
    for n, row in enumerate(rows):
        why = row.unreadable
        for name, values in kept.items():
            values.append(row.kept.get(name))
            if values[-1] is not None and (bad := why_not(values[-1], sys.maxsize)):
                values[-1] = None
                why = why or f"`{name}`: {bad}"
        if row.text is not None:
            why = why or why_not(row.text, sys.maxsize)
        if why is not None:
            unreadable[n] = why.encode("utf-8", "replace").decode("utf-8")
        texts.append(None if why is not None else row.text)
    columns_kept = [pa.chunked_array([pa.array(values, pa.string())]) for values in kept.values()]
    return RowBatch(
        index,
        rows[0].number,
        pa.chunked_array([pa.array(texts, pa.string())]),
        pa.table(columns_kept, names=list(kept)),
        unreadable,
        rows[-1].share,
    )


_ROWS_OF: dict[str, Callable[[InputFiles, Columns, Ranges], Iterator[Row]]] = {
    "jsonl": _json,
    "csv": _csv,
    "txt": _texts,
}
