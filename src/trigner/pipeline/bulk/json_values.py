"""Columns as JSON lines hold them: dates and times are strings.

pyarrow converts whole columns. Python's own dates end with the year 9999 and with microseconds, so
values are only asked for one by one where a column cannot be converted.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from trigner.errors import first_line
from trigner.pipeline.bulk.tables import without

_OUT_OF_RANGE = "<value out of range"
"""How pyarrow begins the string of a date that it cannot write, beyond the year 32767."""

_FAILURES = (ValueError, OverflowError, ImportError, pa.ArrowException)


_INNER = ("value_type", "key_type", "item_type")
"""What lists, maps, dictionaries and runs call the types of what is in them."""


def holds_bytes(kind: pa.DataType) -> bool:
    """Whether values of a type are or contain bytes, for which JSON has no place."""
    types = pa.types
    if types.is_struct(kind) or types.is_union(kind):
        return any(holds_bytes(own.type) for own in kind)
    is_bytes = (
        *(types.is_binary, types.is_large_binary),
        *(types.is_binary_view, types.is_fixed_size_binary),
    )
    inner = (getattr(kind, name) for name in _INNER if hasattr(kind, name))
    return any(own(kind) for own in is_bytes) or any(map(holds_bytes, inner))


def json_type(kind: pa.DataType) -> pa.DataType:
    """The type that a column of another type is converted to."""
    target = _without_times(kind)
    try:
        pa.array([], kind).cast(target)
    except pa.ArrowException:
        return kind
    return target


def json_columns(table: pa.Table) -> tuple[pa.Table, dict[int, str]]:
    """The columns of a table as types of `json_type`, and why rows of it cannot be JSON.

    A value that is impossible is null.
    """
    columns: list[pa.ChunkedArray] = []
    errors: dict[int, str] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        target = json_type(column.type)
        converted, bad = (column, {}) if target == column.type else _converted(column, target)
        if impossible := _impossible(converted):
            converted = without(converted, impossible)
        columns.append(converted)
        bad |= impossible
        for n, why in bad.items():
            errors.setdefault(n, f"`{name}` cannot be written as JSON: {why}")
    return pa.table(columns, names=table.column_names), errors


def _converted(
    column: pa.ChunkedArray, target: pa.DataType
) -> tuple[pa.ChunkedArray, dict[int, str]]:
    """A column as another type, and by their rows why values have none, which are null.

    Such are times of a zone that is not known and durations of more microseconds than there are;
    nanoseconds of durations are cut off.
    """
    try:
        return column.cast(target), {}
    except pa.ArrowException:
        rows = [_converted_row(column.slice(n, 1), target) for n in range(len(column))]
    bad = {n: why for n, (_, why) in enumerate(rows) if why is not None}
    return pa.chunked_array([chunk for own, _ in rows for chunk in own.chunks], target), bad


def _converted_row(row: pa.ChunkedArray, target: pa.DataType) -> tuple[pa.ChunkedArray, str | None]:
    """A column of one value as another type, and why there is none."""
    why = None
    if row.null_count == 0:
        try:
            return row.cast(target), None
        except pa.ArrowException as error:
            why = first_line(error)
        if _CUT_OFF in why:
            return row.cast(target, safe=False), None
    return pa.chunked_array([pa.nulls(1, target)]), why


_CUT_OFF = "would lose data"
"""What pyarrow says of digits that a coarser unit has no place for."""


def _without_times(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_duration(kind):
        return pa.duration("us")
    if pa.types.is_temporal(kind):
        return pa.string()
    if pa.types.is_dictionary(kind):
        return _without_times(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([own.with_type(_without_times(own.type)) for own in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_without_times(kind.value_type)))
    return kind


def _impossible(column: pa.ChunkedArray) -> dict[int, str]:
    """The values that cannot be written, by their rows, and why."""
    bad: dict[int, str] = {}
    if column.type == pa.string():
        out = pc.starts_with(column, _OUT_OF_RANGE).to_pylist()
        bad = {n: "the value is out of range" for n, is_out in enumerate(out) if is_out}
    try:
        column.to_pylist()
    except _FAILURES:
        for n, scalar in enumerate(column):
            try:
                scalar.as_py()
            except _FAILURES as error:
                bad[n] = first_line(error)
    return bad
