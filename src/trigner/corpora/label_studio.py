"""Label Studio's JSON: tasks with a text, and regions of it by first character and end.

    [{"id": 1, "data": {"text": "..."}, "annotations": [{"result": [
      {"id": "r1", "from_name": "label", "to_name": "text", "type": "labels",
       "value": {"start": 0, "end": 4, "text": "pain", "labels": ["ADR"]}},
      {"type": "relation", "from_id": "r1", "to_id": "r2", "labels": ["discontinuous"]}]}]}]

A discontinuous entity is several regions with one label, joined by relations that are called
`discontinuous` or have no name. What `data` has besides text and id are the document's fields,
unknown keys of a region those of its entity; all else is kept as an extra of this format.
Source: https://labelstud.io/guide/task_format
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from trigner.corpora.documents import Item, read_items, write_list
from trigner.corpora.json_shapes import (
    Object,
    all_objects,
    extras_of,
    kept_in,
    listed,
    others,
    separated,
)
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.span_entries import connected
from trigner.errors import InputError
from trigner.mentions import Document, Entity, score_from, shortened

NAME = "label-studio"
ENDINGS: tuple[str, ...] = (".json", ".jsonl")

JOINING = "discontinuous"
"""The name of relations between the regions of one entity."""

_USUAL = {"from_name": "label", "to_name": "text", "type": "labels"}
_OF_REGION = {"id", "value", "score"}
_LISTS = ("annotations", "predictions")
_KEPT: dict[str, type] = {
    **dict.fromkeys(("task", "data", "annotation"), dict),
    **dict.fromkeys(("result", *_LISTS), list),
    "read": str,
}
"""What an extra of this format holds: the rest of a task and of its parts."""


def recognises(path: Path) -> bool:
    """Objects with `data` and a list of `annotations` or `predictions`."""
    return all_objects(path, ENDINGS, lambda objects: all(map(_is_task, objects)))


def _is_task(own: Object) -> bool:
    return isinstance(own.get("data"), dict) and any(isinstance(own.get(n), list) for n in _LISTS)


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """The documents of a file, or of all such files below a folder.

    Of several annotations of a task the first is read; tasks that were skipped are left out.
    """
    return read_items(path, ENDINGS, reading, _document)


def _document(item: Item) -> Document | None:
    task = item.value
    if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
        raise ValueError("expected an object with `data`")
    data = task["data"]
    name = _text_name(data, item.reading.text_column)
    named = item.reading.id_column or "id"
    chosen = _chosen(task, item)
    if chosen is None:
        return None
    text: str = data[name]
    entities, rest = _entities(listed(chosen, "result"), text, item)
    fields, in_data = separated(others(data, {name, named}), text)
    is_prediction = any(own is chosen for own in listed(task, _LISTS[1]))
    kept: dict[str, Any] = {
        "task": others(task, {"data", *_LISTS, *([] if named in data else ["id"])}),
        "data": in_data,
        "annotation": others(chosen, {"result"}),
        "result": rest,
        **{key: [own for own in listed(task, key) if own is not chosen] for key in _LISTS},
        # Which list the entities are from, where their scores do not say it.
        "read": _LISTS[1] if is_prediction and not _scored(entities) else "",
    }
    kept = {key: value for key, value in kept.items() if value}
    extras = extras_of(NAME, kept if kept.keys() != {"read"} else {})
    id = item.id(data.get(named, task.get("id")))
    return Document(id, text, entities, extras=extras, fields=fields)


def _text_name(data: Object, given: str | None) -> str:
    """The key of the text: that of `--text-column`, `text`, or that of the only string."""
    strings = [name for name, value in data.items() if isinstance(value, str)]
    wanted = given or "text"
    if wanted in strings:
        return wanted
    if given is None and len(strings) == 1:
        return strings[0]
    found = ", ".join(map(shortened, strings)) or "none"
    raise ValueError(f"`data` has no text {wanted!r}: name it with --text-column; texts: {found}")


def _chosen(task: Object, item: Item) -> Object | None:
    """The annotation that is read, else the prediction; None for a task that was skipped."""
    annotations, predictions = (
        [own for own in listed(task, name) if isinstance(own, dict)] for name in _LISTS
    )
    valid = [own for own in annotations if not own.get("was_cancelled")]
    if annotations and not valid:
        item.note("a task left out: its annotators skipped it")
        return None
    found = valid or predictions
    if not valid:
        what = "the first prediction is read" if predictions else "it is read without entities"
        item.note(f"a task without annotations: {what}")
    elif len(found) > 1:
        item.note(f"a task with {len(found)} annotations: the first is read")
    return found[0] if found else {}


def _scored(entities: Iterable[Entity]) -> bool:
    return any(entity.score is not None for entity in entities)


def _labels(own: object) -> list[str]:
    """The labels of a region of a text; none for all other results."""
    match own:
        case {"type": str(kind), "value": dict(value)} if kind.endswith("labels"):
            found = value.get(kind)
            if "start" in value and isinstance(found, list):
                return [label for label in found if isinstance(label, str) and label]
    return []


def _regions(results: Iterable[Any]) -> tuple[list[Object], dict[str, list[int]]]:
    """The regions among results, and the numbers of those with an id: labels may share one."""
    regions = [own for own in results if _labels(own)]
    by_id: dict[str, list[int]] = defaultdict(list)
    for number, region in enumerate(regions):
        by_id[str(region.get("id"))].append(number)
    return regions, by_id


def _entities(
    results: Sequence[Any], text: str, item: Item
) -> tuple[tuple[Entity, ...], list[Any]]:
    """The entities of an annotation, and the results that are not part of any."""
    regions, by_id = _regions(results)
    joined: dict[Node, list[Node]] = defaultdict(list)
    rest = []
    for own in results:
        if _labels(own):
            continue
        with item.annotation():
            ends = _joined(own, regions, by_id)
            for one, other in ends:
                joined[one].append(other)
                joined[other].append(one)
            if not ends:
                rest.append(own)
    found: list[Entity] = []
    names: dict[str, str | None] = {}
    nodes = [(n, label) for n, own in enumerate(regions) for label in dict.fromkeys(_labels(own))]
    for group in connected(nodes, joined):
        with item.annotation():
            parts = [regions[number] for number, _ in sorted(group)]
            entity = _entity(group[0][1], parts, text)
            ids = [part.get("id") for part in parts]
            names.update({own: entity.id for own in ids if isinstance(own, str)})
            found.append(entity)
    return tuple(found), [_renamed(own, names) for own in rest]


Node = tuple[int, str]
"""A region by its number, with one of its labels."""


def _joined(
    own: Any, regions: Sequence[Object], by_id: Mapping[str, Sequence[int]]
) -> list[tuple[Node, Node]]:
    """What a relation makes one entity; nothing for another relation or result.

    Raises ValueError for one that is called `discontinuous` and has regions with other labels.
    """
    if not isinstance(own, dict) or own.get("type") != "relation":
        return []
    called = own.get("labels") or []
    if not isinstance(called, list):
        raise ValueError(f"a relation's `labels` are no list: {shortened(called)}")
    if called and JOINING not in called:
        return []
    ends = [
        ((one, label), (other, label))
        for one in by_id.get(str(own.get("from_id")), ())
        for other in by_id.get(str(own.get("to_id")), ())
        for label in _labels(regions[one])
        if label in _labels(regions[other])
    ]
    if called and not ends:
        where = f"{shortened(own.get('from_id'))} and {shortened(own.get('to_id'))}"
        raise ValueError(f"a relation `{JOINING}` joins {where}: regions with no label in common")
    return ends


def _entity(label: str, regions: Sequence[Object], text: str) -> Entity:
    parts = []
    for region in regions:
        value = region["value"]
        start, end = value["start"], value.get("end")
        if type(start) is not int or type(end) is not int:
            raise ValueError(f"a region needs start and end in a plain text: {shortened(value)}")
        surface = _surface(value.get("text"), text[start:end])
        parts.append(Entity.in_text(text, label, [(start, end)], surface=surface))
    fragments = [fragment for part in parts for fragment in part.fragments]
    first = regions[fragments.index(min(fragments))]
    fields = {
        name: value
        for region in (*regions, first)
        for name, value in region.items()
        if name not in _OF_REGION and (name, value) not in _USUAL.items()
    }
    id = first.get("id")
    return Entity.in_text(
        text,
        label,
        fragments,
        score=score_from(first.get("score")),
        id=None if id is None else str(id),
        fields=fields,
    )


def _surface(given: object, there: str) -> object:
    """The text that a region says it has, or what is there if only the line ends are others.

    The editor writes each character of a line end as a backslash and an n.
    """
    if isinstance(given, str) and _unbroken(given).split() == _unbroken(there).split():
        return there
    return given


def _unbroken(text: str) -> str:
    return text.replace("\\n", "\n")


def _renamed(own: Any, names: Mapping[str, str | None]) -> Any:
    """A result that refers to regions, as one that refers to their entities."""
    ends = _referred(own)
    new = {key: names[name] for key, name in ends.items() if names.get(name) is not None}
    return {**own, **new} if new else own


def _referred(own: Any) -> dict[str, str]:
    """The names of regions in a result, by where they stand."""
    given = own if isinstance(own, dict) else {}
    return {k: v for k in ("id", "from_id", "to_id") if isinstance(v := given.get(k), str)}


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file, a JSON list: entities are an annotation of the text, with scores a prediction.

    Those without scores that were read from a prediction are one again.
    """
    dropped: Counter[str] = Counter()

    def items() -> Iterator[str]:
        for document in documents:
            yield json.dumps(_task(document, path, dropped), ensure_ascii=False)
            dropped["extras of other formats"] += sum(e.format != NAME for e in document.extras)
            dropped["given word boundaries"] += document.words is not None

    write_list(items(), path)
    return WriteReport(1, dict(dropped))


def _task(document: Document, path: Path, dropped: Counter[str]) -> dict[str, Any]:
    kept = kept_in(document.extras, NAME, _KEPT, document.id, path)
    if wrong := [name for name, value in kept.items() if not isinstance(value, _KEPT[name])]:
        message = f"has {NAME} data whose `{wrong[0]}` has the wrong type"
        raise InputError(f"document {shortened(document.id)} {message}", path=path)
    predicted = _scored(document.entities) or kept.get("read") == _LISTS[1]
    kind, other = _LISTS[::-1] if predicted else _LISTS
    if predicted and kept.pop(other, None):  # annotations would be read in place of the prediction
        dropped["annotations in addition to a prediction"] += 1
    given = kept.get("result", ())
    results = list(_results(document, given, dropped))
    there = _regions(results)
    rest = [value for value in given if not _is_of_entities(value, *there)]
    dropped["relations or notes"] += len(given) - len(rest)
    # An annotation that was skipped would not be read.
    about = {k: v for k, v in kept.get("annotation", {}).items() if k != "was_cancelled" or not v}
    own = {**about, "result": [*results, *rest]}
    data = {"id": document.id, "text": document.text}
    task = {
        **others(kept.get("task", {}), {"data", *_LISTS}),
        "data": {**others(kept.get("data", {}), data), **data, **document.fields},
        kind: [own, *kept.get(kind, ())],
    }
    return {**task, other: kept[other]} if kept.get(other) else task


def _is_of_entities(
    own: Any, regions: Sequence[Object], by_id: Mapping[str, Sequence[int]]
) -> bool:
    """Whether a result would be read as a region, or as joining some of these."""
    try:
        return bool(_labels(own) or _joined(own, regions, by_id))
    except ValueError:
        return True


def _results(
    document: Document, kept: Iterable[Any], dropped: Counter[str]
) -> Iterator[dict[str, Any]]:
    # A name that is made up is one that nothing has or refers to.
    taken = {entity.id for entity in document.entities}
    taken |= {name for own in kept for name in _referred(own).values()}
    used: set[str] = set()
    numbers: dict[str, Iterator[int]] = {}

    def new(start: str, first: int) -> str:
        free = numbers.setdefault(start, count(first))
        name = next(name for n in free if (name := f"{start}{n}") not in taken)
        taken.add(name)
        return name

    for entity in document.entities:
        kind = entity.fields.get("type", "labels")
        is_kind = isinstance(kind, str) and kind.endswith("labels")
        names: list[str] = []
        for start, end in entity.fragments:
            if names:
                names.append(new(f"{names[0]}.", len(names) + 1))
            elif entity.id is None or entity.id in used:
                names.append(new("r" if entity.id is None else f"{entity.id}.", len(used) + 1))
            else:
                names.append(entity.id)
            used.add(names[-1])
            value = {"start": start, "end": end, "text": document.text[start:end]}
            yield {
                **_USUAL,
                **others(entity.fields, {"value", *([] if is_kind else ["type"])}),
                "id": names[-1],
                "value": {**value, str(kind) if is_kind else "labels": [entity.label]},
                **({} if entity.score is None else {"score": entity.score}),
            }
        dropped["entity ids"] += entity.id not in (None, names[0])
        lost = ("value" in entity.fields) + (not is_kind)
        dropped["fields of entities"] += lost
        for one, other in pairwise(names):
            ends = {"from_id": one, "to_id": other}
            yield {"type": "relation", **ends, "direction": "bi", "labels": [JOINING]}
