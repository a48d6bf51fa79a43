"""Entries of annotation tools that mark characters from a start to an end, as entities."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from trigner.corpora.documents import Item, read_items
from trigner.corpora.json_shapes import (
    ENDS,
    STARTS,
    Object,
    bounds_of,
    extras_of,
    refuse_annotations,
)
from trigner.corpora.reading import Reading, WriteReport
from trigner.machine import atomic_write
from trigner.mentions import Document, Entity, Fragment, score_from, shortened

Node = TypeVar("Node", bound=Hashable)

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
    as_entity: Callable[[object, str], Entity] | None = None,
) -> Iterator[Document]:
    """The documents of a file, or of all files below a folder, that hold an object for each text.

    `take` takes an object apart, or says why it is left out; a ValueError of it ends the reading.
    What it keeps becomes an extra of this `format`, a JSON object. `as_object` is for values that
    stand for objects, `as_entity` makes entities otherwise than `entity_of`.
    """

    def document(item: Item) -> Document | None:
        own = as_object(item.value)
        if not isinstance(own, dict):
            raise ValueError(f"expected an object, found {shortened(item.value)}")
        parts = take(own)
        if isinstance(parts, str):
            item.note(parts)
            return None
        refuse_annotations(parts.fields, parts.text)
        entities = []
        for entry in parts.entries:
            with item.annotation():
                entities.append((as_entity or entity_of)(entry, parts.text))
        extras = extras_of(format, parts.kept)
        id = item.id(parts.id)
        return Document(id, parts.text, tuple(entities), extras=extras, fields=parts.fields)

    return read_items(path, endings, reading, document)


def write_objects(
    documents: Iterable[Document],
    path: Path,
    value: Callable[[Document, Sequence[tuple[Entity, Fragment]]], Object],
    lost: Callable[[Document], Mapping[str, int]],
) -> WriteReport:
    """A line for each document: its `value`, made of it and its entities that are of one piece.

    `lost` are counts of what its format cannot hold, besides entities of several pieces and
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


def text_of(item: Object, *names: str) -> tuple[str, str]:
    """The name of an object's text and the text. Raises ValueError when it has none."""
    for name in names:
        if isinstance(item.get(name), str):
            return name, item[name]
    raise ValueError(f"expected an object with a `{names[0]}`")


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
    if id is not None and type(id) not in (str, int):
        raise ValueError(f"entity id {shortened(id)} is not a string")
    return Entity.in_text(
        text,
        value if isinstance(value, str) else value[0],
        [bounds],
        surface=surface,
        score=score_from(score),
        id=None if id is None else str(id),
        fields=own,
    )


def connected(nodes: Iterable[Node], joined: Mapping[Node, Iterable[Node]]) -> list[list[Node]]:
    """The nodes that are joined, directly or through others, in the order of their first ones."""
    seen: set[Node] = set()
    found = []
    for first in nodes:
        group, waiting = [], [first]
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                group.append(node)
                waiting += joined.get(node, ())
        if group:
            found.append(group)
    return found


def _label(value: object) -> bool:
    """A label: a string, or a list of just one."""
    one = value[0] if isinstance(value, list) and len(value) == 1 else value
    return isinstance(one, str) and one != ""
