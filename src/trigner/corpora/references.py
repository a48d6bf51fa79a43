"""What names entities: relations, events and notes, which are kept as extras of their formats.

When entities are left out, what names them goes, too, and then what names that. Names are ids, in
lines of brat and in JSON under the keys that BigBio, Doccano and Label Studio have for them;
Prodigy has the places of spans.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trigner.corpora import bigbio, brat, doccano, label_studio, prodigy
from trigner.corpora.brat_fields import references
from trigner.corpora.json_shapes import Object, content_of
from trigner.errors import InputError
from trigner.mentions import Document, Extra

_ID_OF_BRAT = re.compile(r"[TREAMN#][0-9]+")
_JSON = (bigbio.NAME, doccano.NAME, label_studio.NAME, prodigy.NAME)
_LISTS = ("relations", "events", "coreferences", "result")
_IDS = ("from_id", "to_id", "arg1_id", "arg2_id", "ref_id")
_SPANS = ("head_span", "child_span")


def without_dangling(document: Document) -> Document:
    """The document without what names entities that it does not have."""
    entities = document.entities
    ids = {entity.id for entity in entities if entity.id is not None}
    there: set[Hashable] = {*ids, *((*place, e.label) for e in entities for place in e.fragments)}
    lines = [extra.content for extra in document.extras if extra.format == brat.NAME]
    named = [(line.partition("\t")[0], _named_in(line)) for line in lines]
    dangling = {lines[number] for number in _dangling(named, ids)}
    extras: list[Extra] = []
    for extra in document.extras:
        if extra.format in _JSON:
            extras += _whole_extra(extra, there)
        elif extra.format != brat.NAME or extra.content not in dangling:
            extras.append(extra)
    return replace(document, extras=tuple(extras))


def count_of(documents: Iterable[Document]) -> int:
    """How many relations, events and notes documents have."""
    return sum(
        1 if extra.format == brat.NAME else sum(map(len, _lists(_content(extra)).values()))
        for document in documents
        for extra in document.extras
    )


def say_labels(documents: Iterable[Document], labels: Collection[str]) -> bool:
    """Whether relations, events or notes have one of these labels of entities in them."""
    return any(
        isinstance(label, str) and label in labels
        for document in documents
        for extra in document.extras
        for label in _labels(extra)
    )


def _dangling(
    entries: Sequence[tuple[Hashable, Iterable[Hashable]]], there: Collection[Hashable]
) -> set[int]:
    """The numbers of entries that name what is not there, or an entry that does.

    An entry is given as its own id and what it names.
    """
    having = Counter(id for id, _ in entries)
    naming = defaultdict(list)
    for number, (_, names) in enumerate(entries):
        for name in names:
            naming[name].append(number)
    gone = [name for name in naming if name not in there and not having[name]]
    found: set[int] = set()
    while gone:
        new = [number for number in naming.pop(gone.pop(), ()) if number not in found]
        found.update(new)
        for id in (entries[number][0] for number in dict.fromkeys(new)):
            having[id] -= 1
            if not having[id] and id not in there:
                gone.append(id)
    return found


def _named_in(line: str) -> Iterator[str]:
    return (name for name in references([line]) if _ID_OF_BRAT.fullmatch(name))


def _whole_extra(extra: Extra, there: Collection[Hashable]) -> tuple[Extra, ...]:
    """An extra in JSON without the entries that name something else; none when nothing is left."""
    content = _content(extra)
    lists = _lists(content)
    entries = [(key, own) for key, entries in lists.items() for own in entries]
    named = [(_id(key, own), _names(own)) for key, own in entries]
    dangling = _dangling(named, there)
    if not dangling:
        return (extra,)
    left: dict[str, Any] = {key: own for key, own in content.items() if key not in lists}
    for number, (key, own) in enumerate(entries):
        if number not in dangling:
            left.setdefault(key, []).append(own)
    return (replace(extra, content=json.dumps(left, ensure_ascii=False)),) if left else ()


def _id(key: str, entry: Any) -> str | None:
    """What others may name an entry by: an event, or a region of Label Studio without a label.

    Relations of some formats have ids like entities.
    """
    if not isinstance(entry, dict):
        return None
    is_named = key == "events" or (key == "result" and _is_region(entry))
    id = entry.get("id") if is_named else None
    return id if isinstance(id, str) else None


def _is_region(result: Object) -> bool:
    return str(result.get("type")).endswith("labels")


def _is_about_region(result: Object) -> bool:
    """Whether a result of Label Studio, such as a choice, is about the region that has its id.

    It has the region's place in the text then, and else is about the whole task.
    """
    value = result.get("value")
    return isinstance(value, dict) and "start" in value and not _is_region(result)


def _names(entry: Any) -> Iterator[Hashable]:
    """The ids and places of entities that an entry of a list names."""
    for own in _with_arguments(entry):
        if _is_about_region(own) and isinstance(own.get("id"), str):
            yield own["id"]
        named = own.get("entity_ids")
        ids = [*(own.get(key) for key in _IDS), *(named if isinstance(named, list) else ())]
        yield from (str(id) for id in ids if isinstance(id, str | int))
        for span in (own.get(key) for key in _SPANS):
            if isinstance(span, dict) and isinstance(span.get("label"), str) and span["label"]:
                yield _bound(span, "start"), _bound(span, "end"), span["label"]


def _bound(span: Object, name: str) -> int | None:
    value = span.get(name)
    return value if isinstance(value, int) else None


def _with_arguments(entry: Any) -> Iterator[Object]:
    """An entry and the arguments of an event."""
    if isinstance(entry, dict):
        yield entry
        arguments = entry.get("arguments")
        yield from (own for own in _list(arguments) if isinstance(own, dict))


def _labels(extra: Extra) -> Iterator[object]:
    """What an extra may have that is the label of an entity: types of events, labels of spans."""
    if extra.format == brat.NAME and extra.content.startswith("E"):
        yield extra.content.partition("\t")[2].partition(":")[0]
    for key, entries in _lists(_content(extra)).items():
        for own in (own for own in entries if isinstance(own, dict)):
            yield own.get("type") if key == "events" else None
            spans = (own.get(key) for key in _SPANS)
            yield from (span.get("label") for span in spans if isinstance(span, dict))


def _lists(content: Object) -> dict[str, list[Any]]:
    return {key: content[key] for key in _LISTS if isinstance(content.get(key), list)}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _content(extra: Extra) -> Object:
    """What an extra in JSON holds; nothing of another, and of one that writers will refuse."""
    if extra.format not in _JSON:
        return {}
    try:
        return content_of(extra, "", Path())
    except InputError:
        return {}
