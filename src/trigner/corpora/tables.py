"""Rows of CSV and Parquet files, as objects, and objects as rows. Parquet needs pyarrow."""

from __future__ import annotations

import csv
import io
import json
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, time
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from trigner.corpora.json_shapes import Object
from trigner.corpora.reading import Reading
from trigner.errors import InputError, require_extra
from trigner.machine import atomic_write, counted, explained
from trigner.mentions import shortened

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

TEXT, ID = "text", "id"
"""What the columns of texts and ids are called unless their names are given."""

DELIMITERS = ",;\t|"
"""What can stand between the columns of a CSV file."""

EXTRA = ("tables", "pyarrow")
"""What Parquet needs: the extra, and the package in it."""

_LONGEST = 1 << 20  # characters of the line that names the columns
_CELL = 1 << 30  # characters of a cell, of which the csv module takes 131,072 unless told
_ROWS = 1000  # of a row group, which is in memory


def csv_rows(path: Path, reading: Reading) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file by their columns' names, each with the line it starts on.

    Lines of blanks are none. Raises InputError, with the line, for a row with more or fewer cells
    than there are columns, and for columns that are called alike.
    """
    text = reading.text(path).removeprefix("\ufeff")
    allow_long_cells()
    delimiter, _ = csv_columns(text, reading.text_column or TEXT)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names: list[str] | None = None
    line = 1
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            raise InputError(f"is not CSV: {error}", path=path, line=line) from error
        if cells is None:
            break
        if names is None:
            names = cells or None
            check_names(cells, path, line)
        elif cells:
            if len(cells) != len(names):
                found = counted(len(cells), "cell")
                message = f"has {found} in a row, and {counted(len(names), 'column')}"
                raise InputError(message, path=path, line=line)
            yield line, dict(zip(names, cells, strict=True))
        line = rows.line_num + 1
    if names is None:
        raise InputError("is empty", path=path)


def allow_long_cells() -> None:
    """Let the csv module take cells of any length that is meant."""
    # Its bound is one for all threads, so it is only raised.
    csv.field_size_limit(max(csv.field_size_limit(), _CELL))


def csv_columns(start: str, wanted: str) -> tuple[str, list[str]]:
    """What separates the columns of a file, by its beginning, and their names.

    That by which one is called as is `wanted`, else that which makes most.
    """
    first = start[:_LONGEST].lstrip("\r\n").partition("\n")[0]
    found = [(mark, _cells(first, mark)) for mark in DELIMITERS]
    return max(found, key=lambda each: (wanted in each[1], len(each[1])))


def _cells(line: str, mark: str) -> list[str]:
    """The cells of a line, none if it is no line of a table: what reads the file says why."""
    try:
        return next(csv.reader([line], delimiter=mark), [])
    except csv.Error:
        return []


def check_names(names: Iterable[str], path: Path, line: int = 1) -> None:
    """Raises InputError for columns that are called alike."""
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise InputError(f"has two columns {shortened(twice[0])}", path=path, line=line)


def parquet_rows(path: Path, reading: Reading) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a Parquet file by their columns' names, numbered from 1; values as JSON has them.

    Raises InputError for what is not such a file, TrignerError without pyarrow.
    """
    with path.open("rb") as file:
        table = _parquet_file(file, path)
        check_names(table.schema_arrow.names, path)
        number = 0
        try:
            for batch in table.iter_batches(batch_size=_ROWS):
                for row in _rows(batch):
                    made = {name: _as_json(value) for name, value in row.items()}
                    number += 1
                    yield number, made
        except (OSError, ValueError, NotImplementedError) as error:
            raise InputError(f"cannot be read: {error}", path=path, line=number + 1) from error


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows of a batch; those before one that cannot be read come first."""
    try:
        rows: list[dict[str, Any]] = batch.to_pylist()
    except (OverflowError, ValueError):
        for number in range(batch.num_rows):
            try:
                yield from batch.slice(number, 1).to_pylist()
            except OverflowError as error:
                raise ValueError("a cell has a date or time that is out of range") from error
    else:
        yield from rows


def parquet_schema(path: Path) -> pa.Schema:
    """The columns of a Parquet file and their types. Raises as `parquet_rows`."""
    with path.open("rb") as file:
        return _parquet_file(file, path).schema_arrow


def _parquet_file(file: IO[bytes], path: Path) -> pq.ParquetFile:
    require_extra(*EXTRA)
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(file)
    except (OSError, ValueError, pa.ArrowException) as error:  # names that are not UTF-8, too
        raise InputError(f"is not a Parquet file: {error}", path=path) from error
    try:
        check_row_groups(table.metadata)
    except EOFError as error:
        raise InputError(f"is damaged: {error}", path=path) from error
    return table


def check_row_groups(metadata: pq.FileMetaData) -> None:
    """Raises EOFError when a Parquet file's row groups do not have as many rows as the file."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    if (rows := sum(group.num_rows for group in groups)) != metadata.num_rows:
        held = counted(rows, "row")
        raise EOFError(f"its row groups have {held}, the file {metadata.num_rows:,}")


def _as_json(value: Any) -> Any:
    """A value of a cell as JSON has it: dates are texts, and NaN is an empty cell, as in pandas."""
    match value:
        case None | bool() | int() | str():
            return value
        case float() if math.isinf(value):
            raise ValueError(f"a cell is {value}, which JSON cannot represent")
        case float():
            return None if math.isnan(value) else value
        case list():
            return [_as_json(inner) for inner in value]
        case dict():
            return {str(name): _as_json(inner) for name, inner in value.items()}
        case date() | time():  # a datetime is a date
            return value.isoformat()
        case Decimal():
            return str(value)
    raise ValueError(f"a cell of the type {type(value).__name__} cannot be read")


@contextmanager
def _kept(
    rows: Iterable[Object], columns: Iterable[str]
) -> Iterator[tuple[dict[str, set[str]], Iterator[dict[str, Any]]]]:
    """The kinds of each column's values, and the rows, on the disk until all have come."""
    kinds: dict[str, set[str]] = {name: set() for name in columns}
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n") as file:
        for row in rows:
            for name, value in row.items():
                kinds.setdefault(name, set()).add(_kind(value))
            file.write(json.dumps(row) + "\n")
        file.seek(0)
        yield kinds, map(json.loads, file)


def _kind(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(inner, str) for inner in value):
        return "strings"
    if type(value) is int and abs(value) >> 63:
        return "large"
    return type(value).__name__


def write_csv(
    rows: Iterable[Object], path: Path, *, columns: Sequence[str], more: Sequence[str] = ()
) -> Counter[str]:
    """One file, with tabs between columns if it is called `.tsv`; what is not text is JSON.

    `columns` are always there. Gives how many values of others than these and `more` have another
    type when they are read, and how many are empty texts: their cells are those of no value.
    """
    changed: Counter[str] = Counter()
    cells = io.StringIO(newline="")
    # With this line end the csv module quotes cells that have either of its characters.
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    writer = csv.writer(cells, delimiter=delimiter, lineterminator="\r\n")
    with _kept(rows, columns) as (kinds, kept), atomic_write(path, keep=True) as put:
        writer.writerow(kinds)
        for row in kept:
            writer.writerow("" if row.get(name) is None else _text(row[name]) for name in kinds)
            put(cells.getvalue())
            cells.seek(0)
            cells.truncate()
            own = [value for name, value in row.items() if name not in (*columns, *more)]
            changed[_CHANGED] += sum(not isinstance(value, str) for value in own)
            changed[_EMPTY] += own.count("")
        put(cells.getvalue())
    return changed


def write_parquet(
    rows: Iterable[Object], path: Path, *, columns: Sequence[str], more: Sequence[str] = ()
) -> Counter[str]:
    """One file; columns of several types, and of other lists than of texts, are JSON.

    As `write_csv`. Raises TrignerError without pyarrow.
    """
    require_extra(*EXTRA)
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {
        **{"str": pa.string(), "bool": pa.bool_(), "int": pa.int64(), "float": pa.float64()},
        "strings": pa.list_(pa.string()),
    }
    changed: Counter[str] = Counter()
    with _kept(rows, columns) as (all_kinds, kept), atomic_write(path, keep=True) as put:
        found = {name: own - {"NoneType"} for name, own in all_kinds.items()}
        types = {name: kinds.get(*own) for name, own in found.items() if len(own) == 1}
        as_text = {name for name in found if types.get(name) is None}
        schema = pa.schema([(name, types.get(name) or pa.string()) for name in found])
        with pq.ParquetWriter(pa.PythonFile(_Sink(put), mode="w"), schema) as writer:
            while group := list(islice(kept, _ROWS)):
                for row in group:
                    changed[_CHANGED] += sum(
                        value is None or (name in as_text and not isinstance(value, str))
                        for name, value in row.items()
                        if name not in (*columns, *more)
                    )
                    for name in as_text & row.keys():
                        row[name] = None if row[name] is None else _text(row[name])
                with explained(path):
                    writer.write_table(pa.Table.from_pylist(group, schema))
    return changed


_CHANGED = "types of fields"
_EMPTY = "fields that are empty texts"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class _Sink(io.RawIOBase):
    """What a file that is written piece by piece is for a writer of files."""

    def __init__(self, put: Callable[[bytes], object]) -> None:
        self._put = put
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        content = bytes(data)
        self._put(content)
        self._size += len(content)
        return len(content)

    def tell(self) -> int:
        return self._size
