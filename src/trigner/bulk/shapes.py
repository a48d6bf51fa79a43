"""Which columns sources have, and which of them a job reads and keeps."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from trigner.bulk.sources import InputFiles
from trigner.bulk.tables import is_text, plain_type, refuse_added
from trigner.errors import InputError

if TYPE_CHECKING:
    from trigner.bulk.lines import Lines

LOOKED_AT = 100
"""Lines of JSON whose names are looked at before the work."""

AT_ONCE = 16
"""Files that are looked at together: what is far away takes its time."""

PLACE = ("file", "row")
"""Columns of the output that say where a row comes from; rows count from 0."""


@dataclass(frozen=True)
class Shape:
    """What a look at a source shows; `rows` is None when only reading it would."""

    types: Mapping[str, pa.DataType]
    rows: int | None = None
    is_open: bool = False
    """Whether a row may have columns that others do not have."""


@dataclass(frozen=True)
class Columns:
    """The columns that a job reads: the text, and what is kept, the id first."""

    text: str
    kept: tuple[pa.Field, ...]


@contextmanager
def errors_named(source: InputFiles) -> Iterator[None]:
    """What goes wrong while a source is read, as an InputError that names it."""
    try:
        yield
    except (OSError, EOFError, ValueError, pa.ArrowException, csv.Error) as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise InputError(f"cannot be read: {reason}", path=source.name) from error


def look_at(sources: Sequence[InputFiles]) -> list[Shape | InputError]:
    """The shape of each source, or why it cannot be read."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return list(threads.map(_shape_or_error, sources))


def _shape_or_error(source: InputFiles) -> Shape | InputError:
    try:
        with errors_named(source):
            return _shape(source)
    except InputError as error:
        return error


def _shape(source: InputFiles) -> Shape:
    if source.kind == "txt":
        return Shape(dict.fromkeys(("id", "text"), pa.string()), len(source.files))
    if source.kind == "parquet":
        with source.files[0].open() as file, pq.ParquetFile(file) as parquet:
            schema = parquet.schema_arrow
            names = schema.names
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"duplicate column `{twice[0]}`")
            types = {field.name: plain_type(field.type) for field in schema}
            return Shape(types, parquet.metadata.num_rows)
    from trigner.bulk.lines import Lines

    with Lines(source.files[0]) as lines:
        if source.kind == "csv":
            header = next(csv.reader(lines.text()), [])
            if twice := sorted({name for name in header if header.count(name) > 1}):
                raise ValueError(f"duplicate column `{twice[0]}`")
            return Shape(dict.fromkeys(header, pa.string()), None if header else 0)
        return _shape_of_lines(lines)


def _shape_of_lines(lines: Lines) -> Shape:
    names: dict[str, pa.DataType] = {}
    rows = None
    for line in islice(lines, LOOKED_AT):
        rows = 0
        try:
            value: Any = json.loads(line)
        except (ValueError, RecursionError):
            continue  # an error of its row
        if isinstance(value, dict):
            names |= dict.fromkeys(value, pa.string())
    return Shape(names, 0 if rows is None else None, is_open=True)


def chosen_columns(
    found: Sequence[tuple[InputFiles, Shape]], *, text: str, id: str | None, keep: Sequence[str]
) -> Columns:
    """The columns of a job over these sources.

    Without `id`, `id` is kept where all have it. Raises InputError, naming the source, for a column
    that is not there or has another type than elsewhere; what JSON lines lack is null there.
    """
    filled = [(source, shape) for source, shape in found if shape.types or shape.rows != 0]
    if id is None and filled and all("id" in shape.types for _, shape in filled):
        id = "id"
    names = list(dict.fromkeys([*([id] if id else []), *keep]))
    refuse_added(names, ("entities", "error", *PLACE))
    for source, shape in filled:
        if text not in shape.types:
            there = ", ".join(shape.types) or "none"
            raise InputError(
                f"has no column `{text}` (there are: {there}); --text names that of the texts",
                path=source.name,
            )
        if not is_text(shape.types[text]):
            raise InputError(
                f"column `{text}` has the type {shape.types[text]}: texts are strings",
                path=source.name,
            )
    return Columns(text, tuple(pa.field(name, _type_of(name, filled)) for name in names))


def _type_of(name: str, found: Sequence[tuple[InputFiles, Shape]]) -> pa.DataType:
    having = [(source, shape.types[name]) for source, shape in found if name in shape.types]
    for source, shape in found:
        if name not in shape.types and not (shape.is_open and having):
            there = ", ".join(shape.types)
            raise InputError(f"has no column `{name}` (there are: {there})", path=source.name)
    if not having:
        return pa.string()
    first, kind = having[0]
    for source, other in having:
        if other != kind:
            raise InputError(
                f"column `{name}` has the type {other}, and {kind} in {first.name}: annotate them"
                " in two jobs, or give them one type",
                path=source.name,
            )
    return kind
