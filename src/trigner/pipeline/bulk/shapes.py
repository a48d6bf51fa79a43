"""Which columns sources have, and which of them a job reads and keeps."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trigner.corpora import check_row_groups
from trigner.errors import InputError
from trigner.pipeline.bulk.failures import READ_ERRORS, errors_named
from trigner.pipeline.bulk.lines import Lines
from trigner.pipeline.bulk.sources import InputFiles
from trigner.pipeline.bulk.tables import is_text, plain_type
from trigner.pipeline.bulk.texts import MOST_CHARACTERS, why_not_unicode

LOOKED_AT = 100
"""Lines of JSON whose names are looked at before the work."""

AT_ONCE = 16
"""Files that are looked at together: what is far away takes its time."""

PLACE = ("file", "row")
"""Columns of the output that say where a row comes from; rows count from 0."""

ADDED_NAMES = ("entities", "error", *PLACE)


@dataclass(frozen=True)
class Shape:
    """What a look at a source shows; `rows` is None when only reading it would."""

    types: Mapping[str, pa.DataType]
    rows: int | None = None
    is_open: bool = False
    """Whether a row may have columns that others do not have."""
    duplicates: frozenset[str] = frozenset()
    """Names that several columns have."""


@dataclass(frozen=True)
class Columns:
    """The columns that a job reads: the text, and what is kept, the id first."""

    text: str
    kept: tuple[pa.Field, ...]

    @property
    def names(self) -> list[str]:
        """Of what is kept."""
        return [field.name for field in self.kept]


def look_at(
    sources: Sequence[InputFiles], *, most_characters: int = MOST_CHARACTERS
) -> list[Shape | InputError]:
    """The shape of each source, whose texts may have so many characters; why it cannot be read."""
    look = partial(_shape_or_error, most_characters=most_characters)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return list(threads.map(look, sources))


def _shape_or_error(source: InputFiles, *, most_characters: int) -> Shape | InputError:
    try:
        with errors_named(source):
            return _shape(source, most_characters)
    except InputError as error:
        return error


def _shape(source: InputFiles, most_characters: int) -> Shape:
    if source.kind == "txt":
        return Shape(dict.fromkeys(("id", "text"), pa.string()), len(source.files))
    if source.kind == "parquet":
        with source.files[0].open() as file, pq.ParquetFile(file) as parquet:
            schema = parquet.schema_arrow
            types = {field.name: plain_type(field.type) for field in schema}
            check_row_groups(parquet.metadata)
            rows = parquet.metadata.num_rows
            return Shape(types, rows, duplicates=_duplicates(schema.names))
    with Lines(source.files[0], most_characters) as lines:
        if source.kind == "csv":
            header = next(lines.records(), [])
            if any("\0" in name for name in header):
                raise ValueError("its header is not UTF-8, but seems to be UTF-16")
            if any(map(why_not_unicode, header)):
                raise ValueError("its header is not UTF-8")
            types = dict.fromkeys(header, pa.string())
            return Shape(types, None if header else 0, duplicates=_duplicates(header))
        return _shape_of_lines(lines)


def _duplicates(names: Sequence[str]) -> frozenset[str]:
    return frozenset(name for name, times in Counter(names).items() if times > 1)


def _shape_of_lines(lines: Lines) -> Shape:
    names: dict[str, pa.DataType] = {}
    rows = 0
    try:
        for line in islice(lines, LOOKED_AT):
            rows += 1
            try:
                value: Any = json.loads(line)
            except (ValueError, RecursionError):
                continue  # an error of its row
            if isinstance(value, dict):
                names |= dict.fromkeys(value, pa.string())
    except READ_ERRORS:
        if not rows:
            raise  # else what is whole is read, and the error is met again behind it
    return Shape(names, None if rows else 0, is_open=True)


def chosen_columns(
    found: Sequence[tuple[InputFiles, Shape]], *, text: str, id: str | None, keep: Sequence[str]
) -> Columns:
    """The columns of a job over these sources.

    Without `id`, `id` is kept where all have it, as strings where they have it with different
    types. Raises InputError, naming the source, for any other column that is not there, is there
    twice or has another type than elsewhere; what JSON lines lack is null there.
    """
    filled = [(source, shape) for source, shape in found if shape.types or shape.rows != 0]
    names = list(dict.fromkeys([*([id] if id else []), *keep]))
    for name in names:
        if name in ADDED_NAMES:
            raise InputError(f"`{name}` is a column that annotate adds: rename yours first")
    for source, shape in filled:
        for name in (text, *names):
            if name in shape.duplicates:
                raise InputError(f"has several columns `{name}`", path=source.name)
        if text not in shape.types:
            raise InputError(_missing(text, source, shape, option="--text"), path=source.name)
        if not is_text(shape.types[text]):
            raise InputError(
                f"column `{text}` has the type {shape.types[text]}: texts are strings",
                path=source.name,
            )
    kept = [pa.field(name, _type_of(name, filled)) for name in names]
    if id is None and "id" not in names and (kind := _default_id(filled)) is not None:
        kept.insert(0, pa.field("id", kind))
    elif id is None:
        kept.sort(key=lambda own: own.name != "id")
    return Columns(text, tuple(kept))


def _missing(name: str, source: InputFiles, shape: Shape, *, option: str | None = None) -> str:
    """That a source has no such column, and why that may be."""
    where = f" in its first {LOOKED_AT} lines" if shape.is_open else ""
    there = ", ".join(shape.types) or "none"
    message = f"has no column `{name}`{where} (there are: {there})"
    if source.kind == "csv" and len(shape.types) == 1:
        other = next((mark for mark in (";", "\t", "|") if mark in there), None)
        if other is not None:
            mark = "tabs" if other == "\t" else f"'{other}'"
            return f"{message}: columns are separated by commas; this header seems to use {mark}"
    return message if option is None else f"{message}; {option} names that of the texts"


def _default_id(found: Sequence[tuple[InputFiles, Shape]]) -> pa.DataType | None:
    """The type of the column `id`, None where it is not kept without being asked for."""
    if any("id" in shape.duplicates or "id" not in shape.types for _, shape in found):
        return None
    kinds = {shape.types["id"] for _, shape in found}
    if len(kinds) < 2:
        return next(iter(kinds), None)
    is_plain = all(map(_has_string, kinds))
    return pa.string() if is_plain else None


def _has_string(kind: pa.DataType) -> bool:
    """Whether each value of a type can be written as a string."""
    return bool(kind in (pa.string(), pa.null()) or pa.types.is_primitive(kind))


def _type_of(name: str, found: Sequence[tuple[InputFiles, Shape]]) -> pa.DataType:
    having = [(source, shape.types[name]) for source, shape in found if name in shape.types]
    for source, shape in found:
        if name not in shape.types and not (shape.is_open and having):
            raise InputError(_missing(name, source, shape), path=source.name)
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
