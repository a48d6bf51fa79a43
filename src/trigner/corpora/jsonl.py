"""Our own format: one document a line, entities with character fragments, labels and scores.

    {"id": "post-1", "text": "...", "entities": [{"label": "ADR", "fragments": [[0, 4], [18, 26]],
     "text": "Pain my hands", "score": 0.93, "id": "T1"}], "words": [[0, 4], ...]}

`score`, `id`, `words` (ranges of given words) and `extras` are there when they have a value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from trigner.corpora.documents import files, peek, place, values
from trigner.corpora.reading import Reading, WriteReport, fault, write_text
from trigner.errors import InputError
from trigner.mentions import Document, Entity, Extra, Fragment

NAME = "jsonl"


def recognises(path: Path) -> bool:
    """`.jsonl` files whose first value has a `text`."""
    found = files(path, (".jsonl",))
    return bool(found) and all(_is_ours(peek(file)) for file in found)


def _is_ours(start: str) -> bool:
    return not start.strip() or (start.lstrip().startswith("{") and '"passages"' not in start)


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """The documents of a file, or of all `.jsonl` below a folder."""
    for file in files(path, (".jsonl",)):
        for number, (line, item) in enumerate(values(file), 1):
            try:
                yield _document(item, reading, file, line or None, place(number, line))
            except (KeyError, TypeError, ValueError) as error:
                raise InputError(
                    f"{place(number, line)}is no document: {type(error).__name__} {error}",
                    path=file,
                    line=line or None,
                ) from error


def write(documents: Sequence[Document], path: Path) -> WriteReport:
    """One file; nothing is lost."""
    write_text(path, "".join(as_json_line(document) + "\n" for document in documents))
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


def _document(item: Any, reading: Reading, path: Path, line: int | None, where: str) -> Document:
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        raise InputError(f"{where}expected an object with a `text`", path=path, line=line)
    text = item["text"]
    words = item.get("words")
    ranges = None if words is None else tuple(_range(word) for word in words)
    # Given words may be empty, but not overlap.
    bounds = [bound for start, end in ranges or () for bound in (start, end)]
    if bounds != sorted(bounds) or any(not 0 <= bound <= len(text) for bound in bounds):
        raise InputError(f"{where}words are out of order or outside the text", path=path, line=line)
    entities = []
    for entry in item.get("entities", []):
        fragments = tuple(sorted(_range(f) for f in entry["fragments"]))
        surface = " ".join(text[start:end] for start, end in fragments)
        wrong = fault(fragments, len(text))
        claimed = entry.get("text")
        if wrong is None and claimed is not None and claimed.split() != surface.split():
            wrong = f"surface {claimed!r} is not what the text has there: {surface!r}"
        if wrong is not None:
            reading.bad(f"{where}{wrong}", path=path, line=line)
            continue
        score = entry.get("score")
        entities.append(
            Entity(
                str(entry["label"]),
                fragments,
                surface,
                None if score is None else float(score),
                entry.get("id"),
            )
        )
    extras = tuple(Extra(e["format"], e["content"]) for e in item.get("extras", []))
    name = str(item.get("id", f"{path.stem}-{line}"))
    return Document(name, text, tuple(entities), ranges, extras)


def _range(value: Any) -> Fragment:
    start, end = value
    if type(start) is not int or type(end) is not int:
        raise ValueError(f"offsets must be integers: {value}")
    return start, end
