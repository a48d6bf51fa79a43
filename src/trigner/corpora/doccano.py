"""Doccano's JSON lines: a text with labels by their first character and the one after the last.

    {"id": 1, "text": "...", "label": [[0, 4, "ADR"]]}
    {"id": 1, "text": "...", "entities": [{"id": 7, "label": "ADR", "start_offset": 0,
     "end_offset": 4}], "relations": []}

The text may be called `data` and the list `labels`, as older versions do. `relations` are kept as
an extra of this format; all else are the document's fields. Offsets count characters. Doccano
itself counts one beyond U+FFFF, such as an emoji, as two unless told otherwise in the project's
settings: that is noted where it matters.
Source: https://doccano.github.io/doccano/tutorial/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from trigner.corpora.json_shapes import Object, all_objects, bounds_of, kept_in, listed, others
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.span_entries import Parts, entity_of, read_objects, text_of, write_objects
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
    found = read_objects(path, ENDINGS, reading, _parts, NAME, as_entity=_entity)
    ambiguous = 0
    for document in found:
        ambiguous += _is_ambiguous(document)
        yield document
    if ambiguous:
        reading.note(f"{_AMBIGUOUS.format('read')}: {ambiguous:,}", path=path)


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file, a line a document: with `label`, or with `entities` where there are relations."""
    ambiguous = 0

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
        nonlocal ambiguous
        ambiguous += _is_ambiguous(document)
        related = bool(kept_in(document.extras, NAME, _KEPT, document.id, path))
        return {
            "scores": sum(entity.score is not None for entity in document.entities),
            "entity ids": 0 if related else sum(e.id is not None for e in document.entities),
            "extras of other formats": sum(extra.format != NAME for extra in document.extras),
            "fields of documents": len(document.fields.keys() & _OF_DOCUMENT),
            "fields of entities": sum(len(entity.fields) for entity in document.entities),
        }

    report = write_objects(documents, path, value, lost)
    notes = (f"{_AMBIGUOUS.format('written')}: {ambiguous:,}",) if ambiguous else ()
    return replace(report, notes=notes)


_AMBIGUOUS = (
    "documents with entities behind a character such as an emoji, which Doccano counts as two"
    " unless told otherwise; offsets were {} with each character counted once: check them"
)


def _is_ambiguous(document: Document) -> bool:
    """Whether some entity has other offsets where characters beyond U+FFFF count as two."""
    end = max((entity.fragments[-1][1] for entity in document.entities), default=0)
    return _units(document.text[:end]) > end


def _units(text: str) -> int:
    """The length of a text where characters beyond U+FFFF count as two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _entity(entry: object, text: str) -> Entity:
    bounds = bounds_of(entry)
    if bounds is not None and len(text) < bounds[1] <= (units := _units(text)):
        raise ValueError(
            f"fragment {bounds[0]} {bounds[1]} is outside the text of {len(text)} characters, which"
            f" are {units} where an emoji counts as two, as Doccano does unless told otherwise:"
            " convert its offsets to those of characters"
        )
    return entity_of(entry, text)


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
    return Parts(text, entries, others(item, {*read, *_KEPT}), item.get("id"), kept)
