"""Entries of annotation tools that mark characters from a start to an end, as entities."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trigner.atomic_files import atomic_write
from trigner.corpora.documents import place, read_files, values
from trigner.corpora.json_shapes import (
    ENDS,
    STARTS,
    Object,
    bounds_of,
    content_of,
    refuse_annotations,
)
from trigner.corpora.reading import Reading, WriteReport
from trigner.errors import InputError
from trigner.mentions import Document, Entity, Extra, Fragment, shortened

LABELS = ("label", "entity_group", "entity_type", "type", "tag", "entity", "labels", "class")
"""Names that tools give to the type of an annotation, the usual ones first."""

_SURFACE = "text"


@dataclass(frozen=True, slots=True)
class Parts:
    """An object taken apart: its text, the entries of its annotations, and what is kept as it is.

    `id` is None when it has none. `kept` is content that only this format has a meaning for, such
    as tokens; all else that the object has are the document's fields.
    """

    text: str
    entries: Sequence[Any]
    fields: Object
    id: object = None
    kept: Object = field(default_factory=dict)


def read_objects(
    path: Path,
    endings: tuple[str, ...],
    reading: Reading,
    take: Callable[[Object], Parts | str],
    format: str,
    *,
    as_object: Callable[[Any], Object | None] = lambda value: value,
) -> Iterator[Document]:
    """The documents of a file, or of all files below a folder, that hold an object for each text.

    `take` takes an object apart, or says why it is left out; a ValueError of it ends the reading.
    What it keeps becomes an extra of this `format`, a JSON object. `as_object` is for values that
    stand for objects.
    """

    def read_file(file: Path, name: str, reading: Reading) -> Iterator[tuple[int, Document]]:
        for number, (line, value) in enumerate(values(file, reading), 1):
            where = place(number, line)
            item = as_object(value)
            try:
                if not isinstance(item, dict):
                    raise ValueError(f"expected an object, found {shortened(value)}")
                parts = take(item)
                if isinstance(parts, str):
                    reading.note(f"{where}{parts}", path=file, line=line)
                    continue
                refuse_annotations(parts.fields, parts.text)
                id = f"{name}-{number}" if parts.id is None else parts.id
                if type(id) not in (str, int) or id == "":
                    raise ValueError(f"expected a string as `id`, found {shortened(id)}")
                entities = []
                for entry in parts.entries:
                    with reading.annotation(path=file, line=line, where=where):
                        entities.append(entity_of(entry, parts.text))
                kept = json.dumps(parts.kept, ensure_ascii=False) if parts.kept else None
                extras = () if kept is None else (Extra(format, kept),)
                document = Document(
                    str(id), parts.text, tuple(entities), extras=extras, fields=parts.fields
                )
            except ValueError as error:
                raise InputError(f"{where}{error}", path=file, line=line) from error
            yield line, document

    return read_files(path, endings, reading, read_file)


def write_objects(
    documents: Iterable[Document],
    path: Path,
    value: Callable[[Document, Sequence[tuple[Entity, Fragment]]], Object],
    lost: Callable[[Document], Mapping[str, int]],
) -> WriteReport:
    """A line for each document: its `value`, made of it and its entities that are of one piece.

    `lost` are counts of what its format has no place for, besides entities of several pieces and
    given words.
    """
    dropped: Counter[str] = Counter()
    with atomic_write(path, keep=True) as put:
        for document in documents:
            # What is of blanks alone has nothing to merge: it is where its fragments are.
            pieces = [(e, document.merged(e.fragments) or e.fragments) for e in document.entities]
            whole = [(entity, found[0]) for entity, found in pieces if len(found) == 1]
            put(json.dumps(value(document, whole), ensure_ascii=False) + "\n")
            dropped["discontinuous entities"] += len(pieces) - len(whole)
            dropped["given word boundaries"] += document.words is not None
            dropped.update(lost(document))
    return WriteReport(1, dict(dropped))


def kept_of(document: Document, format: str, names: Collection[str], path: Path) -> dict[str, Any]:
    """What the notes of a format hold under these names."""
    found: dict[str, Any] = {}
    for extra in document.extras:
        if extra.format == format:
            found |= {k: v for k, v in content_of(extra, document.id, path).items() if k in names}
    return found


def others(fields: Object, taken: Collection[str]) -> dict[str, Any]:
    """The fields that have none of these names."""
    return {name: value for name, value in fields.items() if name not in taken}


def text_of(item: Object, *names: str) -> tuple[str, str]:
    """The name of an object's text and the text. Raises ValueError when it has none."""
    for name in names:
        if isinstance(item.get(name), str):
            return name, item[name]
    raise ValueError(f"expected an object with a `{names[0]}`")


def listed(item: Object, name: str) -> list[Any]:
    """The list under a name, empty when there is none. Raises ValueError for anything else."""
    found = item.get(name)
    if found is not None and not isinstance(found, list):
        raise ValueError(f"`{name}` is not a list: {shortened(found)}")
    return found or []


def entity_of(entry: object, text: str) -> Entity:
    """The entity of `{"start": 0, "end": 4, "label": "ADR"}` or `[0, 4, "ADR"]`.

    Other names of tools for start, end and label do as well; what else the entry has are its
    fields, but for `text` (the surface, which is checked), `score` and `id`. Raises ValueError for
    anything else.
    """
    bounds = bounds_of(entry)
    if isinstance(entry, list):
        named = [value for value in entry if isinstance(value, str)]
        if bounds is None or len(entry) != 3 or not named[0]:
            raise ValueError(f"an entity needs start, end and label: {shortened(entry)}")
        return Entity.in_text(text, named[0], [bounds])
    own: dict[str, Any] = dict(entry) if isinstance(entry, dict) else {}
    label = next((name for name in LABELS if _label(own.get(name))), None)
    if bounds is None or label is None:
        raise ValueError(f"an entity needs start, end and label: {shortened(entry)}")
    value = own.pop(label)
    for names in (STARTS, ENDS):
        used = next((name for name in names if type(own.get(name)) is int), None)
        own.pop(used or "", None)
    if own.get("offset") == bounds[0] and own.get("length") == bounds[1] - bounds[0]:
        del own["offset"], own["length"]
    surface, score, id = (own.pop(name, None) for name in (_SURFACE, "score", "id"))
    if score is not None and (type(score) not in (int, float) or not 0 <= score <= 1):
        raise ValueError(f"score {shortened(score)} is not a number in [0, 1]")
    if id is not None and type(id) not in (str, int):
        raise ValueError(f"entity id {shortened(id)} is not a string")
    return Entity.in_text(
        text,
        value if isinstance(value, str) else value[0],
        [bounds],
        surface=surface,
        score=None if score is None else float(score),
        id=None if id is None else str(id),
        fields=own,
    )


def _label(value: object) -> bool:
    """A label: a string, or a list of just one."""
    one = value[0] if isinstance(value, list) and len(value) == 1 else value
    return isinstance(one, str) and one != ""
