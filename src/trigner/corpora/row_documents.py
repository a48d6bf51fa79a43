"""Rows of tables as documents, and documents as rows.

A row has the columns `text` and, if there is one, `id`, or what `--text-column` and `--id-column`
name. Annotations are JSON in `entities`, as our JSON lines have them; `words` and `extras` are what
they are there. All other columns are the document's fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trigner.corpora.documents import Item
from trigner.corpora.json_shapes import others, refuse_annotations
from trigner.corpora.span_entries import entity_of
from trigner.corpora.strict_json import FLAWS, parsed
from trigner.corpora.tables import ID, TEXT
from trigner.mentions import DOCUMENT_KEYS, Document, Entity, shortened

COLUMNS, MORE = ("id", "text", "entities"), ("words", "extras")
"""What a document's own columns are called when it is written; `MORE` are there where needed."""


def document_of_row(item: Item) -> Document:
    """The document of a row. Raises ValueError, naming the column, for what is none."""
    row: Mapping[str, Any] = item.value
    text_column, id_column = item.reading.text_column or TEXT, item.reading.id_column or ID
    for option, name in (("--text-column", text_column), ("--id-column", item.reading.id_column)):
        if name is not None and name not in row:
            there = ", ".join(map(shortened, row))
            raise ValueError(f"has no column {name!r}: name one with {option}; columns: {there}")
    text = row[text_column]
    if not isinstance(text, str):
        raise ValueError(f"the column {text_column!r} must contain text: {shortened(text)}")
    own = {name: _from_json(row.get(name), name) for name in ("entities", "words", "extras")}
    rest: dict[str, Any] = {"id": item.id(row.get(id_column)), "text": text}
    rest |= {name: own[name] for name in ("words", "extras") if own[name] is not None}
    fields = others(row, {text_column, id_column, *own})
    if taken := sorted(fields.keys() & DOCUMENT_KEYS):
        raise ValueError(f"the column {taken[0]!r} has a reserved name: rename it")
    entities = []
    for entry in own["entities"] or ():
        with item.annotation():
            entities.append(_entity(entry, text))
    refuse_annotations(fields, text)
    present = {name: cell for name, cell in fields.items() if cell is not None}
    return replace(Document.from_dict({**rest, **present}), entities=tuple(entities))


def _from_json(cell: Any, name: str) -> list[Any] | None:
    """The list of a cell, itself or as JSON. Raises ValueError for anything else."""
    if cell is None or cell == "":
        return None
    try:
        value = parsed(cell) if isinstance(cell, str) else list(map(_without_empty, cell))
    except FLAWS as error:
        raise ValueError(f"the column {name!r} {error}") from error
    except (TypeError, ValueError, RecursionError):
        value = cell
    if not isinstance(value, list):
        message = f"the column {name!r} must contain JSON lists: {shortened(cell)}"
        raise ValueError(f"{message}; if it means something else, rename it")
    return value


def _without_empty(entry: Any) -> Any:
    """What one entity lacks others of a Parquet column have: its cells are there, and empty."""
    if not isinstance(entry, dict):
        return entry
    return {name: value for name, value in entry.items() if value is not None}


def _entity(entry: Any, text: str) -> Entity:
    if isinstance(entry, dict) and "fragments" in entry:
        return Entity.from_dict(entry, text)
    return entity_of(entry, text)
