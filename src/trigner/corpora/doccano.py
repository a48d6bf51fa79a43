"""Doccano's JSON lines: a text with labels by their first character and the one after the last.

    {"id": 1, "text": "...", "label": [[0, 4, "ADR"]]}
    {"id": 1, "text": "...", "entities": [{"id": 7, "label": "ADR", "start_offset": 0,
     "end_offset": 4}], "relations": []}

The text may be called `data` and the list `labels`, as older versions do. `relations` are kept as
an extra of this format; all else are the document's fields.
Source: https://doccano.github.io/doccano/tutorial/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from trigner.corpora.json_shapes import Object, all_objects, bounds_of, kept_in, listed, others
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.span_entries import Parts, read_objects, text_of, write_objects
from trigner.mentions import Document, Entity, Fragment

NAME = "doccano"
ENDINGS: tuple[str, ...] = (".jsonl", ".json")

_TEXTS = ("text", "data")
_LABELS = ("label", "labels")
_KEPT = ("relations",)
_OF_DOCUMENT = {*_LABELS, *_KEPT}


def recognises(path: Path) -> bool:
    """Objects with a `text` or `data`, of which one has labels as Doccano writes them."""
    return all_objects(path, ENDINGS, _fits)


def _fits(objects: Sequence[Object]) -> bool:
    texts = all(any(isinstance(own.get(name), str) for name in _TEXTS) for own in objects)
    return texts and any(
        any(_has_triples(own.get(name)) for name in _LABELS) or _has_offsets(own.get("entities"))
        for own in objects
    )


def _has_triples(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(entry, list) for entry in value)


def _has_offsets(value: object) -> bool:
    entries = value if isinstance(value, list) else []
    return any(isinstance(entry, dict) and "start_offset" in entry for entry in entries)


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """The documents of a file, or of all such files below a folder."""
    return read_objects(path, ENDINGS, reading, _parts, NAME)


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file, a line a document: with `label`, or with `entities` where there are relations."""

    def value(document: Document, pieces: Sequence[tuple[Entity, Fragment]]) -> Object:
        kept = kept_in(document.extras, NAME, _KEPT, document.id, path)
        if kept:
            entries = [
                {
                    **({} if entity.id is None else {"id": _number(entity.id)}),
                    "label": entity.label,
                    "start_offset": start,
                    "end_offset": end,
                }
                for entity, (start, end) in pieces
            ]
            annotations: Object = {"entities": entries, **kept}
        else:
            annotations = {"label": [[start, end, e.label] for e, (start, end) in pieces]}
        fields = others(document.fields, _OF_DOCUMENT)
        return {"id": document.id, "text": document.text, **annotations, **fields}

    def lost(document: Document) -> Mapping[str, int]:
        related = bool(kept_in(document.extras, NAME, _KEPT, document.id, path))
        return {
            "scores": sum(entity.score is not None for entity in document.entities),
            "entity ids": 0 if related else sum(e.id is not None for e in document.entities),
            "extras of other formats": sum(extra.format != NAME for extra in document.extras),
            "fields of documents": len(document.fields.keys() & _OF_DOCUMENT),
            "fields of entities": sum(len(entity.fields) for entity in document.entities),
        }

    return write_objects(documents, path, value, lost)


def _number(id: str) -> int | str:
    """Doccano's ids are numbers, to which its relations refer."""
    return int(id) if id.isascii() and id.isdigit() and str(int(id[:18])) == id else id


def _parts(item: Object) -> Parts:
    named, text = text_of(item, *_TEXTS)
    entries = [*listed(item, "entities")]
    read = {"id", named, "entities"}
    for name in _LABELS:
        found = item.get(name)
        # A label without offsets is one of the whole text: a field.
        if isinstance(found, list) and not (found and all(bounds_of(e) is None for e in found)):
            entries += found
            read.add(name)
    kept = {"relations": item["relations"]} if item.get("relations") else {}
    fields = {k: v for k, v in item.items() if k not in {*read, "relations"}}
    return Parts(text, entries, fields, item.get("id"), kept)
