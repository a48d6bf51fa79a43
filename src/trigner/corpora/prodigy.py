"""Prodigy's JSON lines: a text with `spans` by their first character and the one after the last.

    {"text": "...", "spans": [{"start": 0, "end": 4, "label": "ADR"}], "answer": "accept"}

As Prodigy's own converters do, examples whose `answer` is reject or ignore are left out, with a
note. `tokens` and `relations` are kept as an extra of this format; `meta` and all else are fields.
Source: https://prodi.gy/docs/api-interfaces
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from trigner.corpora.json_shapes import Object, all_objects, chosen, kept_in, listed, others
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.span_entries import Parts, read_objects, text_of, write_objects
from trigner.corpora.words import fields_lost
from trigner.mentions import Document, Entity, Fragment

NAME = "prodigy"
ENDINGS: tuple[str, ...] = (".jsonl", ".json")

_KEPT = ("tokens", "relations")

_OF_ENTITY = {"start", "end", "offset", "length"}
_MARKS = ("_input_hash", "_task_hash")


def recognises(path: Path) -> bool:
    """Objects with a `text` of which one has `spans` or Prodigy's hashes."""
    return all_objects(path, ENDINGS, _fits)


def _fits(objects: Sequence[Object]) -> bool:
    # Our own JSON lines keep the hashes as fields, and always have `entities`.
    return all("text" in own and "entities" not in own for own in objects) and any(
        isinstance(own.get("spans"), list) or any(mark in own for mark in _MARKS) for own in objects
    )


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """The documents of a file, or of all such files below a folder."""
    return read_objects(path, ENDINGS, reading, _parts, NAME)


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file, a line a document; its id is the field `id`, which Prodigy keeps."""

    def value(document: Document, pieces: Sequence[tuple[Entity, Fragment]]) -> Object:
        spans = [
            {
                "start": start,
                "end": end,
                "label": entity.label,
                **{k: v for k, v in (("score", entity.score), ("id", entity.id)) if v is not None},
                **others(entity.fields, _OF_ENTITY),
            }
            for entity, (start, end) in pieces
        ]
        return {
            "text": document.text,
            "id": document.id,
            **kept_in(document.extras, NAME, _KEPT, document.id, path),
            "spans": spans,
            **others(document.fields, _taken(document)),
        }

    def lost(document: Document) -> Mapping[str, int]:
        extras = sum(extra.format != NAME for extra in document.extras)
        fields = fields_lost(document, of_document=_taken(document), of_entity=_OF_ENTITY)
        return {"extras of other formats": extras, **fields}

    return write_objects(documents, path, value, lost)


def _taken(document: Document) -> set[str]:
    """The names of fields that cannot be written: one like a rejection would hide the document."""
    left_out = document.fields.get("answer") in ("reject", "ignore")
    return {"spans", *_KEPT, *(["answer"] if left_out else [])}


def _parts(item: Object) -> Parts | str:
    _, text = text_of(item, "text")
    answer = item.get("answer", "accept")
    if answer in ("reject", "ignore"):
        return f"an example left out: its answer is {answer}"
    fields = others(item, {"id", "text", "spans", *_KEPT})
    return Parts(text, listed(item, "spans"), fields, item.get("id"), chosen(item, _KEPT))
