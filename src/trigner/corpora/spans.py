"""JSON of a text with a list of annotations by start and end, as many programs write it.

    {"text": "...", "entities": [{"start": 0, "end": 4, "label": "ADR"}]}
    {"text": "...", "entities": [[0, 4, "ADR"]]}
    ["...", {"entities": [[0, 4, "ADR"]]}]

So write spaCy (`Doc.to_json`, training data of version 2), pipelines of Hugging Face and GLiNER's
predictions. The list may have any name; `tokens`, `sents` and `relations` are kept as an extra of
this format, all else are the document's fields. It is only read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from trigner.corpora.documents import files
from trigner.corpora.json_shapes import Object, beginning, bounds_of, chosen, others
from trigner.corpora.reading import Reading
from trigner.corpora.span_entries import LABELS, Parts, read_objects, text_of
from trigner.mentions import Document

NAME = "spans"
ENDINGS: tuple[str, ...] = (".jsonl", ".json")

_LISTS = ("entities", "ents", "spans", "annotations", "labels", "label", "mentions", "ner")
_KEPT = ("tokens", "sents", "relations")


def recognises(path: Path) -> bool:
    """Objects with a `text` (or lists of a text and an object), of which one has such a list."""
    found = files(path, ENDINGS)
    return bool(found) and all(
        file.suffix.lower() in ("", *ENDINGS) and _fits(beginning(file)) for file in found
    )


def _fits(values: Sequence[Any]) -> bool:
    objects = [_as_object(value) for value in values]
    texts = all(own is not None and isinstance(own.get("text"), str) for own in objects)
    return texts and any(own is not None and _lists_in(own) for own in objects)


def _as_object(value: Any) -> Object | None:
    match value:
        case dict():
            return value
        case [str(text), dict(rest)] if "text" not in rest:
            return {"text": text, **rest}
    return None


def _lists_in(item: Object) -> list[str]:
    """The names of lists in which something has bounds and a label; the usual names alone."""
    found = [
        name
        for name, value in item.items()
        if name not in _KEPT and isinstance(value, list) and any(map(_is_entry, value))
    ]
    usual = [name for name in found if name in _LISTS]
    return usual or found


def _is_entry(entry: object) -> bool:
    labelled = isinstance(entry, list) or (
        isinstance(entry, dict) and any(name in entry for name in LABELS)
    )
    return labelled and bounds_of(entry) is not None


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """The documents of a file, or of all such files below a folder."""
    return read_objects(path, ENDINGS, reading, _parts, NAME, as_object=_as_object)


def _parts(item: Object) -> Parts:
    _, text = text_of(item, "text")
    names = _lists_in(item)
    if len(names) > 1:
        which = " and ".join(f"`{name}`" for name in names)
        raise ValueError(f"has two lists of annotations, {which}: remove one of them")
    empty = [name for name in _LISTS if item.get(name) == []]
    fields = others(item, {"id", "text", *names, *empty, *_KEPT})
    entries = item[names[0]] if names else []
    return Parts(text, entries, fields, item.get("id"), chosen(item, _KEPT))
