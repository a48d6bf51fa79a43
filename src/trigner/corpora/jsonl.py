"""Our own format: one document a line, entities with character fragments, labels and scores.

    {"id": "post-1", "text": "...", "entities": [{"label": "ADR", "fragments": [[0, 4], [18, 26]],
     "text": "Pain my hands", "score": 0.93, "id": "T1"}], "words": [[0, 4], ...]}

`score`, `id`, `words` (ranges of given words) and `extras` are there when they have a value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from trigner.atomic_files import atomic_write
from trigner.corpora.documents import (
    ShapeError,
    files,
    has_key,
    peek,
    place,
    read_files,
    values,
    values_of_lines,
)
from trigner.corpora.reading import Reading, WriteReport, fault
from trigner.errors import InputError
from trigner.mentions import Document, Entity, Extra, Fragment

NAME = "jsonl"

ENDINGS = (".jsonl",)


def recognises(path: Path) -> bool:
    """`.jsonl` files whose first value has a `text`."""
    found = files(path, ENDINGS)
    return bool(found) and all(
        f.suffix.lower() in ("", *ENDINGS) and _is_ours(peek(f)) for f in found
    )


def _is_ours(start: str) -> bool:
    if not start.strip():
        return True
    return start.lstrip()[0] == "{" and has_key(start, "text") and not has_key(start, "passages")


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """The documents of a file, or of all `.jsonl` below a folder."""

    def read_file(file: Path, name: str, reading: Reading) -> Iterator[tuple[int, Document]]:
        return _documents(values(file), name, reading, file)

    return read_files(path, ENDINGS, reading, read_file)


def read_lines(
    lines: Iterable[bytes], name: str, reading: Reading, *, path: Path
) -> Iterator[Document]:
    """The documents of lines as they come, those without an id called after `name`.

    `path` is what errors call where they come from. Raises InputError as `read` does, but does not
    look for ids that occur twice.
    """
    for _, document in _documents(values_of_lines(lines, path), name, reading, path):
        yield document


def _documents(
    found: Iterable[tuple[int, Any]], name: str, reading: Reading, path: Path
) -> Iterator[tuple[int, Document]]:
    for number, (line, item) in enumerate(found, 1):
        where = place(number, line)
        try:
            yield line, _document(item, f"{name}-{number}", reading, path, line, where)
        except ShapeError as error:
            raise InputError(f"{where}{error}", path=path, line=line) from error


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file; nothing is lost."""
    with atomic_write(path, keep=True) as put:
        for document in documents:
            put(as_json_line(document) + "\n")
    return WriteReport(1)


def as_json_line(document: Document) -> str:
    """A document as one line of JSON."""
    value: dict[str, Any] = {
        "id": document.id,
        "text": document.text,
        "entities": [_value(entity) for entity in document.entities],
    }
    if document.words is not None:
        value["words"] = [list(word) for word in document.words]
    if document.extras:
        value["extras"] = [{"format": e.format, "content": e.content} for e in document.extras]
    return json.dumps(value, ensure_ascii=False)


def _value(entity: Entity) -> dict[str, Any]:
    value: dict[str, Any] = {
        "label": entity.label,
        "fragments": [list(fragment) for fragment in entity.fragments],
        "text": entity.text,
    }
    if entity.score is not None:
        value["score"] = entity.score
    if entity.id is not None:
        value["id"] = entity.id
    return value


def _document(
    item: Any, name: str, reading: Reading, path: Path, line: int, where: str
) -> Document:
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        raise ShapeError("expected an object with a `text`")
    text, id = item["text"], item.get("id", name)
    if type(id) not in (str, int) or id == "":
        raise ShapeError(f"expected a string as `id`, found {id!r}")
    entities = []
    for entry in _list(item, "entities"):
        entity = _entity(entry, text)
        if isinstance(entity, str):
            reading.bad(where + entity, path=path, line=line)
        else:
            entities.append(entity)
    extras = tuple(_extra(entry) for entry in _list(item, "extras"))
    return Document(str(id), text, tuple(entities), _words(item, len(text)), extras)


def _list(item: dict[str, Any], key: str) -> list[Any]:
    value = item.get(key, [])
    if not isinstance(value, list):
        raise ShapeError(f"`{key}` is no list")
    return value


def _words(item: dict[str, Any], length: int) -> tuple[Fragment, ...] | None:
    if item.get("words") is None:
        return None
    ranges = [as_range(word) for word in _list(item, "words")]
    words = [word for word in ranges if word is not None]
    # Given words may be empty, but not overlap.
    bounds = [bound for word in words for bound in word]
    outside = any(not 0 <= bound <= length for bound in bounds)
    if len(words) < len(ranges) or bounds != sorted(bounds) or outside:
        raise ShapeError("`words` are no ranges, out of order or outside the text")
    return tuple(words)


def _entity(entry: Any, text: str) -> Entity | str:
    """The entity, or what is wrong with it."""
    label = entry.get("label") if isinstance(entry, dict) else None
    given = entry.get("fragments") if isinstance(entry, dict) else None
    if not isinstance(label, str) or not label or not isinstance(given, list):
        return f"an entity needs `label` and `fragments`: {entry!r}"
    ranges = [as_range(fragment) for fragment in given]
    fragments = tuple(fragment for fragment in ranges if fragment is not None)
    if len(fragments) < len(ranges):
        return f"`fragments` are pairs of integers, not {given!r}"
    wrong = misfit(fragments, text, entry.get("text"))
    if wrong is not None:
        return wrong
    score, id = entry.get("score"), entry.get("id")
    if score is not None and (type(score) not in (int, float) or not 0 <= score <= 1):
        return f"score {score!r} is no number in [0, 1]"
    if id is not None and not isinstance(id, str):
        return f"entity id {id!r} is no string"
    fragments = tuple(sorted(fragments))
    surface = " ".join(text[start:end] for start, end in fragments)
    return Entity(label, fragments, surface, None if score is None else float(score), id)


def misfit(fragments: Sequence[Fragment], text: str, claimed: object) -> str | None:
    """What is wrong with fragments in any order, and with the surface that the source claims."""
    ordered = tuple(sorted(fragments))
    wrong = fault(ordered, len(text))
    if wrong is not None or claimed is None:
        return wrong
    surface = " ".join(text[start:end] for start, end in ordered)
    as_given = " ".join(text[start:end] for start, end in fragments)
    if isinstance(claimed, str) and claimed.split() in (surface.split(), as_given.split()):
        return None
    return f"surface {claimed!r} is not what the text has there: {surface!r}"


def as_range(value: Any) -> Fragment | None:
    """A pair of integers, None for all else."""
    if not isinstance(value, list) or len(value) != 2 or any(type(v) is not int for v in value):
        return None
    return value[0], value[1]


def _extra(entry: Any) -> Extra:
    if isinstance(entry, dict):
        format, content = entry.get("format"), entry.get("content")
        if isinstance(format, str) and isinstance(content, str):
            return Extra(format, content)
    raise ShapeError(f"an extra needs `format` and `content`: {entry!r}")
