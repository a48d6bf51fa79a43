"""Tables of texts -> the same tables with two more columns, `entities` and `error`."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

import pyarrow as pa

from trigner.errors import InputError
from trigner.pipeline import Extractor, RunStatistics
from trigner.pipeline.bulk.texts import MOST_CHARACTERS, annotate_texts

FRAGMENT = pa.struct([("start", pa.int32()), ("end", pa.int32())])
ENTITY = pa.struct(
    [
        ("label", pa.string()),
        ("fragments", pa.list_(FRAGMENT)),
        ("text", pa.string()),
        ("score", pa.float64()),
    ]
)
ENTITIES = pa.list_(ENTITY)
ADDED = (pa.field("entities", ENTITIES), pa.field("error", pa.string()))
"""`entities` is null where `error` says why there are none."""

MODEL_KEY = b"trigner.model"
"""Of a schema's metadata: the fingerprint of the model that found the entities."""


def annotated_schema(kept: Iterable[pa.Field], fingerprint: str | None = None) -> pa.Schema:
    """The schema of kept columns with what is found, bound to the model.

    Raises InputError when a kept column has the name of one that is added.
    """
    fields = list(kept)
    refuse_added([field.name for field in fields])
    metadata = None if fingerprint is None else {MODEL_KEY: fingerprint.encode()}
    return pa.schema([*fields, *ADDED], metadata=metadata)


def refuse_added(names: Iterable[str]) -> None:
    """Raises InputError when a column has the name of one that is added."""
    added = {field.name for field in ADDED}
    if taken := [name for name in names if name in added]:
        raise InputError(f"there is a column `{taken[0]}` already: rename it first")


def annotate_batch(
    extractor: Extractor,
    table: pa.Table,
    *,
    text: str = "text",
    keep: Sequence[str] | None = None,
    fingerprint: str | None = None,
    most_characters: int = MOST_CHARACTERS,
) -> tuple[pa.Table, RunStatistics]:
    """The kept columns of a table (None: all) with `entities` and `error`, row by row.

    `text` is the column of texts. A row that fails has its reason as its error; no row depends on
    another. Raises InputError when a column is missing, twice there or of another type.
    """
    keep = table.column_names if keep is None else keep
    for name in dict.fromkeys([text, *keep]):
        if (times := table.column_names.count(name)) != 1:
            raise InputError(f"there are {times or 'no'} columns `{name}` in the table")
    schema = annotated_schema([table.schema.field(name) for name in keep], fingerprint)
    texts = table.column(text)
    if not is_text(texts.type):
        raise InputError(f"column `{text}` has the type {texts.type}: texts are strings")
    found, statistics = annotate_texts(extractor, values_of(texts), most_characters=most_characters)
    columns = [
        *(table.column(name) for name in keep),
        pa.array([each.entities for each in found], ENTITIES),
        pa.array([each.error for each in found], pa.string()),
    ]
    return pa.table(columns, schema=schema), statistics


def is_text(kind: pa.DataType) -> bool:
    """Whether values of a type are strings, or nothing but nulls."""
    return plain_type(kind) in (pa.string(), pa.null())


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type that values have however they are stored: of all kinds of strings, one."""
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    return kind


def without(column: pa.ChunkedArray, rows: Container[int]) -> pa.ChunkedArray:
    """A column in which these rows are null."""
    indices = [None if n in rows else n for n in range(len(column))]
    return column.take(pa.array(indices, pa.int64()))


def values_of(column: pa.ChunkedArray) -> list[object]:
    """Strings of a column; what is not UTF-8, as no file promises, with `surrogateescape`."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return [_value(scalar) for scalar in column]


def _value(scalar: pa.Scalar) -> object:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return bytes(scalar.as_buffer()).decode("utf-8", "surrogateescape")
