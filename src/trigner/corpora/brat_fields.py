"""Own fields of documents and entities as brat's attributes and notes, and back.

    A1<TAB>negated T1                    {"negated": true}
    A2<TAB>code T1 C0030193              {"code": "C0030193"}
    #1<TAB>Fields T1<TAB>{"sure": 0.5}   what no attribute can be: other values than true and words
    #2<TAB>Fields *<TAB>{"date": "..."}  the document's

Attributes get new numbers when they are written. Those of relations and events, those that another
line refers to, and a second one of the same name stay lines as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from trigner.corpora.json_shapes import separated
from trigner.corpora.strict_json import FLAWS, parsed
from trigner.mentions import ENTITY_KEYS, Document, Entity

_DOCUMENT = "*"
_ATTRIBUTE = re.compile(r"(A[0-9]+)\t(\S+) (T\S+)(?: (\S+))?")
_NOTE = re.compile(r"#\S*\tFields (\S+)\t(\{.*\})")
_NAME = re.compile(r"[\w-]+")
_VALUE = re.compile(r"\S+")

Fields = dict[str, Any]


def fields_in(
    lines: Sequence[str], ids: Collection[str], text: str
) -> tuple[dict[str, Fields], list[str]]:
    """Fields by entity id (the document's under `*`), and the lines that say something else.

    `ids` are those of the entities. Raises as `note_of_fields`.
    """
    found: dict[str, Fields] = {}
    referred = set(references(lines))
    rest = []
    for line in lines:
        target, own = _said(line, referred)
        if target == _DOCUMENT:
            fits = not separated(own, text)[1]
        else:
            fits = target in ids and not own.keys() & ENTITY_KEYS
        before = found.get(target, {})
        if own and fits and not own.keys() & before.keys():
            found.setdefault(target, {}).update(own)
        else:
            rest.append(line)
    return found, rest


def document_fields(found: Mapping[str, Fields]) -> Fields:
    """Those of the document among what `fields_in` found."""
    return found.get(_DOCUMENT, {})


def _said(line: str, referred: Collection[str]) -> tuple[str, Fields]:
    """What a line says of what; nothing when it is neither attribute nor note of fields."""
    if (attribute := _ATTRIBUTE.fullmatch(line)) and attribute[1] not in referred:
        return attribute[3], {attribute[2]: attribute[4] or True}
    return note_of_fields(line) or ("", {})


def note_of_fields(line: str) -> tuple[str, Fields] | None:
    """What a note says of what; None for other lines. Raises `FLAWS` of JSON."""
    if (note := _NOTE.fullmatch(line)) is None:
        return None
    try:
        own = parsed(note[2])
    except FLAWS:
        raise
    except (ValueError, RecursionError):
        return None
    return (note[1], own) if isinstance(own, dict) else None


def references(lines: Iterable[str]) -> Iterator[str]:
    """What lines refer to; values, codes and texts of notes are not looked at."""
    for line in lines:
        words = line.partition("\t")[2].partition("\t")[0].split()
        if line.startswith(("A", "M", "N", "#")):
            yield from words[1:2]
        else:  # the first word of an event has its trigger
            yield from (word.rpartition(":")[2] for word in words if ":" in word)
            yield from (word for word in words[1:] if ":" not in word)


def lines_of(
    document: Document, named: Sequence[tuple[str, Entity]], others: Iterable[str]
) -> Iterator[str]:
    """The lines that say the fields of a document, whose entities are called as in `named`.

    `others` are lines whose numbers are taken, and those that they refer to.
    """
    others = [*others]
    taken = {*(line.partition("\t")[0] for line in others), *references(others)}
    attributes, notes = _numbers("A", taken), _numbers("#", taken)
    for name, entity in named:
        rest = {}
        for key, value in entity.fields.items():
            if value is True and _NAME.fullmatch(key):
                yield f"{next(attributes)}\t{key} {name}"
            elif isinstance(value, str) and _NAME.fullmatch(key) and _VALUE.fullmatch(value):
                yield f"{next(attributes)}\t{key} {name} {value}"
            else:
                rest[key] = value
        if rest:
            yield f"{next(notes)}\tFields {name}\t{json.dumps(rest, ensure_ascii=False)}"
    if document.fields:
        own = json.dumps(dict(document.fields), ensure_ascii=False)
        yield f"{next(notes)}\tFields {_DOCUMENT}\t{own}"


def _numbers(letter: str, taken: Collection[str]) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        if f"{letter}{number}" not in taken:
            yield f"{letter}{number}"
