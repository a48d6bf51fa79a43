"""Sources -> batches of rows: the unit of work, read one after the other.

A row that cannot be read is a row with a reason; InputError is for what ends the reading of its
source.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import IO, Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from trigner.errors import InputError
from trigner.machine import DuplicateKeyError, counted, unique_keys
from trigner.mentions import shortened
from trigner.pipeline.bulk.failures import (
    READ_ERRORS,
    UnreadableError,
    errors_named,
    is_damage,
    is_of_one_file,
    reason,
)
from trigner.pipeline.bulk.lines import BOM, Lines
from trigner.pipeline.bulk.ranges import Ranges
from trigner.pipeline.bulk.shapes import Columns
from trigner.pipeline.bulk.sources import InputFiles
from trigner.pipeline.bulk.tables import values_of, without
from trigner.pipeline.bulk.texts import MOST_CHARACTERS, why_not, why_not_unicode

T = TypeVar("T")

ROWS = 256
BYTES = 100_000
"""Of a batch: some seconds of work of one core. A longer text goes alone."""

HELD = 4_000_000
"""Bytes of a Parquet file that are decoded at a time, by the average of its rows."""

UTF_8 = 4
"""Bytes that a character has at most."""


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
    index: int,
    source: InputFiles,
    columns: Columns,
    finished: Ranges,
    *,
    rows: int = ROWS,
    most_characters: int = MOST_CHARACTERS,
) -> Iterator[RowBatch]:
    """The rows of a source that are not finished, at most so many together.

    What is held of lines and `.txt` files is bounded by the characters that a text may have.
    Raises UnreadableError when it cannot be read, or only in part, after all that can be.
    """
    if source.kind == "parquet":
        given = _parquet(index, source, columns, finished, rows)
    else:
        found = _ROWS_OF[source.kind](source, columns, finished, most_characters)
        given = _gathered(index, columns, found, rows)
    while True:
        with errors_named(source):
            batch = next(given, None)
        if batch is None:
            return
        yield from _cut(batch)


def _cut(batch: RowBatch) -> Iterator[RowBatch]:
    """A batch in pieces of `BYTES`."""
    strings = [batch.texts, *(own for own in batch.kept.columns if own.type == pa.string())]
    lengths = [pc.binary_length(own).to_pylist() for own in strings]
    start, size = 0, 0
    for n, row in enumerate(zip(*lengths, strict=True)):
        length = sum(filter(None, row))
        if n > start and size + length > BYTES:
            yield batch.slice(start, n)
            start, size = n, 0
        size += length
    if start < batch.rows:
        yield batch.slice(start, batch.rows)


def _parquet(
    index: int, source: InputFiles, columns: Columns, finished: Ranges, rows: int
) -> Iterator[RowBatch]:
    names = list(dict.fromkeys([columns.text, *columns.names]))
    lost = _Lost()
    with source.files[0].open() as file, pq.ParquetFile(file) as parquet:
        total, start = parquet.metadata.num_rows, 0
        for group in range(parquet.num_row_groups):
            about = parquet.metadata.row_group(group)
            end = start + about.num_rows
            at_once = max(1, min(rows, HELD * about.num_rows // max(1, about.total_byte_size)))
            gaps = list(finished.gaps(start, end))
            read = parquet.iter_batches(at_once, row_groups=[group], columns=names) if gaps else ()
            try:
                for record in read:
                    whole = _of_record(index, start, pa.table(record), columns, total)
                    for first, stop in finished.gaps(whole.first, whole.end):
                        yield whole.slice(first - whole.first, stop - whole.first)
                    start = whole.end
                if gaps and start != end:
                    raise EOFError(f"a row group ends at row {start:,}, not {end:,}")
            except READ_ERRORS as error:
                # What is behind damage can be read; what is far away need not be asked again.
                end = end if is_damage(error) else total
                lost.add(start, end, _length(finished.gaps(start, end)), error)
            start = end
            if start >= total:
                break
    lost.report(source, total)


def _of_record(index: int, first: int, table: pa.Table, columns: Columns, total: int) -> RowBatch:
    kept = []
    unreadable: dict[int, str] = {}
    for own in columns.kept:
        column = table.column(own.name).cast(own.type)
        if own.type == pa.string() and (bad := _not_unicode(column)):
            column = without(column, bad)
            for n, why in bad.items():
                unreadable.setdefault(n, f"`{own.name}` {why}")
        kept.append(column)
    texts = table.column(columns.text).cast(pa.string())
    if unreadable:
        texts = without(texts, unreadable)
    return RowBatch(
        index,
        first,
        texts,
        pa.table(kept, names=columns.names),
        unreadable,
        share=(first + table.num_rows) / total,
    )


def _not_unicode(column: pa.ChunkedArray) -> dict[int, str]:
    """What is wrong with strings of a column, by their rows: a file does not promise UTF-8."""
    try:
        column.cast(pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        values = enumerate(values_of(column))
        found = {n: why_not_unicode(value) for n, value in values if isinstance(value, str)}
        return {n: why for n, why in found.items() if why is not None}
    return {}


class _Lost:
    """The rows of a Parquet file that cannot be read."""

    def __init__(self) -> None:
        self._ranges: list[tuple[int, int]] = []
        self._missing = 0
        self._error: BaseException | None = None

    def add(self, first: int, end: int, missing: int, error: BaseException) -> None:
        """Rows from `first` to `end`, of which so many are not in the output."""
        if self._ranges and self._ranges[-1][1] == first:
            first = self._ranges.pop()[0]
        self._ranges.append((first, end))
        self._missing += missing
        self._error = self._error or error

    def report(self, source: InputFiles, total: int) -> None:
        """Raises UnreadableError when there are any."""
        if self._error is None:
            return
        first, end = self._ranges[0]
        where = f" from row {first:,} on" if end == total else f" in rows {first:,} to {end - 1:,}"
        if more := len(self._ranges) - 1:
            where += f" and {counted(more, 'other place')}"
        why, missing = reason(self._error), self._missing
        raise UnreadableError(why, path=source.name, where=where, missing=missing) from self._error


def _length(ranges: Iterable[tuple[int, int]]) -> int:
    return sum(end - first for first, end in ranges)


def _texts(source: InputFiles, columns: Columns, finished: Ranges, most: int) -> Iterator[Row]:
    for number, file in _unfinished(source, source.files, finished):
        share = (number + 1) / len(source.files)
        kept: dict[str, str | None] = {"id": source.ids[number]}
        longest = len(BOM) + UTF_8 * most
        try:
            with file.open() as opened:
                data = _beginning(opened, longest)
        except READ_ERRORS as error:
            if is_of_one_file(error, file):
                why = f"{file.name}: cannot be read: {error.strerror or reason(error)}"
                yield Row(number, None, kept, why, share)
                continue
            missing = _length(finished.gaps(number, len(source.files)))
            where = f" from row {number:,} on"
            why = f"{file.name}: {reason(error)}"
            raise UnreadableError(why, path=source.name, where=where, missing=missing) from error
        if len(data) > longest:
            yield Row(number, None, kept, f"the text has more than {most:,} characters", share)
            continue
        try:
            text = data.removeprefix(BOM).decode("utf-8")
        except UnicodeDecodeError as error:
            why = f"{file.name}: byte {error.start} is not UTF-8"
            yield Row(number, None, kept, why, share)
        else:
            yield Row(number, text, {**kept, "text": text}, None, share)


def _beginning(file: IO[bytes], most: int) -> bytes:
    """So many bytes of a file, which need not say how many it has, and some more if it has them."""
    data = bytearray()
    while len(data) <= most and (piece := file.read(BYTES)):
        data += piece
    return bytes(data)


def _json(source: InputFiles, columns: Columns, finished: Ranges, most: int) -> Iterator[Row]:
    with Lines(source.files[0], most) as lines:
        for number, line in _unfinished(source, lines, finished):
            value, why = _object(line, lines.longest)
            if why is None and columns.text not in value:
                why = f"the line has no `{columns.text}`"
            kept = {name: _string(value.get(name)) for name in columns.names}
            yield Row(number, value.get(columns.text), kept, why, lines.share)


def _object(line: bytes, most: int) -> tuple[dict[str, Any], str | None]:
    """The JSON object of a line; why it has none."""
    if len(line) > most:
        return {}, f"the line has more than {most:,} bytes"
    try:
        value = json.loads(line, object_pairs_hook=unique_keys)
    except DuplicateKeyError as error:
        return {}, f"the line {error}"
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


def _csv(source: InputFiles, columns: Columns, finished: Ranges, most: int) -> Iterator[Row]:
    with Lines(source.files[0], most) as lines:
        read = lines.records()
        header = next(read, [])
        for number, cells in _unfinished(source, read, finished):
            value: dict[str, str | None] = dict(zip(header, cells, strict=False))
            why = None
            if len(cells) != len(header):
                why = f"the row has {counted(len(cells), 'cell')}, and the header {len(header)}"
            yield Row(number, value.get(columns.text), value, why, lines.share)


def _unfinished(
    source: InputFiles, values: Iterable[T], finished: Ranges
) -> Iterator[tuple[int, T]]:
    read = 0
    try:
        for number, value in enumerate(values):
            read = number + 1
            if finished.after(number) == number:
                yield number, value
    except READ_ERRORS as error:
        where = f" from row {read:,} on"
        raise UnreadableError(reason(error), path=source.name, where=where) from error


def _gathered(index: int, columns: Columns, rows: Iterable[Row], most: int) -> Iterator[RowBatch]:
    """Neighbouring rows as batches of about the size that they are to have."""
    held: list[Row] = []
    size = 0
    failure: Exception | None = None
    remaining = iter(rows)
    while True:
        try:
            row = next(remaining, None)
        except (InputError, *READ_ERRORS) as error:  # what was read before is whole
            failure, row = error, None
        full = len(held) >= most or size >= BYTES
        if held and (row is None or full or row.number != held[-1].number + 1):
            yield _batch(index, columns, held)
            held, size = [], 0
        if row is None:
            break
        held.append(row)
        values = (row.text, *map(row.kept.get, columns.names))
        size += sum(len(own) for own in values if isinstance(own, str))
    if failure is not None:
        raise failure


def _batch(index: int, columns: Columns, rows: list[Row]) -> RowBatch:
    texts: list[object] = []
    kept: dict[str, list[str | None]] = {name: [] for name in columns.names}
    unreadable: dict[int, str] = {}
    for n, row in enumerate(rows):
        why = row.unreadable
        for name, values in kept.items():
            values.append(row.kept.get(name))
            if values[-1] is not None and (bad := why_not_unicode(values[-1])):
                values[-1] = None
                why = why or f"`{name}` {bad}"
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


_ROWS_OF: dict[str, Callable[[InputFiles, Columns, Ranges, int], Iterator[Row]]] = {
    "jsonl": _json,
    "csv": _csv,
    "txt": _texts,
}
