"""Prodigy's JSON lines: a text with `spans` by their first character and the one after the last.

    {"text": "...", "spans": [{"start": 0, "end": 4, "label": "ADR"}], "answer": "accept"}

As Prodigy's own converters do, examples whose `answer` is reject or ignore are left out, with a
note. `tokens` and `relations` are kept as a note of this format; `meta` and all else are fields.
Source: https://prodi.gy/docs/api-interfaces
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from trigner.corpora.json_shapes import Object, all_objects
from trigner.corpora.reading import Reading
from trigner.corpora.span_entries import Parts, listed, read_objects, text_of
from trigner.mentions import Document

NAME = "prodigy"
ENDINGS: tuple[str, ...] = (".jsonl", ".json")

KEPT = ("tokens", "relations")

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


def _parts(item: Object) -> Parts | str:
    _, text = text_of(item, "text")
    answer = item.get("answer", "accept")
    if answer in ("reject", "ignore"):
        return f"an example left out: its answer is {answer}"
    kept = {name: item[name] for name in KEPT if name in item}
    read = {"id", "text", "spans", *KEPT}
    fields = {name: value for name, value in item.items() if name not in read}
    return Parts(text, listed(item, "spans"), fields, item.get("id"), kept)
