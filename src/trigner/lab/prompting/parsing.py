"""Parses a model's answer into items, whatever surrounds it and however it is written.

Looks in fenced blocks (the last one with an answer counts), else for the first list of objects,
else for single objects. Never raises.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from trigner.errors import require_extra
from trigner.lab.prompting.brackets import Bracketed, bracketed

FoundIn = Literal["block", "list", "objects", "word"]
Syntax = Literal["JSON", "Python", "repaired"]

_INDEX = ("index", "indices", "indexes", "ids")
_TEXT = ("entity", "text", "mention")
_TYPE = ("type", "label")
_ENTITIES = "entities"

_BLOCK = re.compile(
    r"(?:```|~~~)[ \t]*(?:[A-Za-z0-9_+.-]*(?=[\s\[{]))?(.*?)(?:```|~~~|'''|´´´|‘‘‘|’’’|\Z)",  # noqa: RUF001
    re.DOTALL,
)
_NO_INDICES = re.compile(rf"([\"'](?:{'|'.join(_INDEX)})[\"']\s*:\s*)\[\s*\]")
_NUMBER = re.compile(r"\s*(-?\d{1,9})\s*(?::.*)?", re.DOTALL)
_RANGE = re.compile(r"\s*(\d{1,9})\s*(?:-|–|—|\.\.+|to)\s*(\d{1,9})\s*")
_NOTHING = {"[]", "{}", "null", "none", "no entities"}
_AND_SO_ON = {"etc", "etc.", "...", "…"}
_WIDEST = 1_000
_FURTHEST = 999_999_999
"""As many digits as `_NUMBER` takes; Python refuses to print much longer numbers."""

ECHOES = ("words of the entity", "index of each word")
"""Placeholders in the templates' answer format."""


@dataclass(frozen=True, slots=True)
class Item:
    """One entity as the model named it; None for what is missing or unreadable."""

    indices: tuple[int, ...] | None
    text: str | None
    label: str | None
    is_echo: bool = False
    """Whether it repeats the placeholders of the prompt's template."""


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """What could be read from an answer.

    `found_in` and `syntax` are None when nothing was found. `truncated`: a list or object was never
    closed, and only its complete entities are kept.
    """

    items: tuple[Item, ...] = ()
    found_in: FoundIn | None = None
    syntax: Syntax | None = None
    truncated: bool = False

    @property
    def is_unparsable(self) -> bool:
        """Whether no answer was found; an empty list is one."""
        return self.found_in is None


@dataclass(frozen=True, slots=True)
class _Objects:
    values: list[dict[str, Any]]
    syntax: Syntax
    truncated: bool = False


def parse(text: str) -> ParsedAnswer:
    """The items of an answer."""
    for block in reversed([found.group(1) for found in _BLOCK.finditer(text)]):
        if (found := _whole(block) or _first_list(block) or _objects(block)) is not None:
            return _parsed(found, "block")
    if (found := _whole(text) or _first_list(text)) is not None:
        return _parsed(found, "list")
    if (found := _objects(text)) is not None:
        return _parsed(found, "objects")
    is_word = text.strip().strip(".").casefold() in _NOTHING
    return ParsedAnswer(found_in="word" if is_word else None)


def _parsed(found: _Objects, found_in: FoundIn) -> ParsedAnswer:
    items = tuple(_item(value) for value in found.values)
    return ParsedAnswer(items, found_in, found.syntax, found.truncated)


def _whole(text: str) -> _Objects | None:
    if text.strip().casefold() in _NOTHING:
        return _Objects([], "JSON")
    return _read(Bracketed(text.strip(), complete=True), _READERS[:2])


def _first_list(text: str) -> _Objects | None:
    # An object's empty list of indices is no answer by itself.
    for candidate in bracketed(_NO_INDICES.sub(r"\1null", text), "["):
        found = _read(candidate)
        if found is not None:
            return found
    return None


def _objects(text: str) -> _Objects | None:
    """All single objects; one with a list of entities stands for those."""
    found = [one for candidate in bracketed(text, "{") if (one := _read(candidate)) is not None]
    if not found:
        return None
    worst = max(found, key=lambda one: get_args(Syntax).index(one.syntax))
    values = [value for one in found for value in one.values]
    return _Objects(values, worst.syntax, any(one.truncated for one in found))


def _read(
    candidate: Bracketed,
    readers: Sequence[tuple[Syntax, Callable[[str], Any]]] | None = None,
) -> _Objects | None:
    for syntax, reader in readers or _READERS:
        try:
            values = _normalised(reader(candidate.text))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        if values is not None:
            return _Objects(values, syntax, not candidate.complete)
    return None


def _python(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about unknown escapes
        return ast.literal_eval(text)


def _repaired(text: str) -> Any:
    require_extra("lab", "json_repair")
    from json_repair import repair_json

    try:
        return repair_json(text, return_objects=True, skip_json_loads=True)
    except Exception as error:  # it documents none
        raise ValueError("cannot be repaired") from error


_READERS: tuple[tuple[Syntax, Callable[[str], Any]], ...] = (
    ("JSON", json.loads),
    ("Python", _python),
    ("repaired", _repaired),
)


def _normalised(value: Any) -> list[dict[str, Any]] | None:
    """The objects in a value; None when it is not an answer. Other elements of a list are noise."""
    if value is None:
        return []
    if isinstance(value, dict):
        if _ENTITIES in value:
            return _normalised(value[_ENTITIES])
        inner = [v for v in value.values() if isinstance(v, list) and v and _is_item(v[0])]
        if len(inner) == 1:
            return _normalised(inner[0])
        return [value] if _is_item(value) else None
    if not isinstance(value, (list, tuple)):
        return None
    objects = [element for element in value if _is_item(element)]
    return objects if objects or not value else None


def _is_item(value: Any) -> bool:
    return isinstance(value, dict) and any(key in value for key in (*_INDEX, *_TEXT))


def _item(value: dict[str, Any]) -> Item:
    index, text, label = (_first(value, keys) for keys in (_INDEX, _TEXT, _TYPE))
    if isinstance(text, (list, tuple)) and all(isinstance(word, str) for word in text):
        text = " ".join(text)
    written = [text, *index] if isinstance(index, (list, tuple)) else [text, index]
    strings = [part.casefold() for part in written if isinstance(part, str)]
    return Item(
        indices=_indices(index),
        text=text if isinstance(text, str) and text.strip() else None,
        label=label if isinstance(label, str) else None,
        is_echo=any(echo in part for echo in ECHOES for part in strings),
    )


def _first(value: dict[str, Any], keys: Sequence[str]) -> Any:
    return next((value[key] for key in keys if key in value), None)


def _indices(value: Any) -> tuple[int, ...] | None:
    """Indices as given, in order; None when there is none or one cannot be read."""
    try:
        found = tuple(_numbers(value))
    except (ValueError, RecursionError):  # the JSON parser in C goes deeper than Python
        return None
    return found or None


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, bool) or value is None:
        raise ValueError("not an index")
    if isinstance(value, (int, float)):
        if not abs(value) <= _FURTHEST or value != int(value):
            raise ValueError("not an index")
        yield int(value)
    elif isinstance(value, str):
        yield from _in_text(value)
    elif isinstance(value, (list, tuple)):
        for element in value:
            if isinstance(element, str) and element.strip().casefold() in _AND_SO_ON:
                continue
            if isinstance(element, (list, tuple)) and len(element) == 2:
                first, last = (number for part in element for number in _numbers(part))
                yield from _between(first, last)
            else:
                yield from _numbers(element)
    else:
        raise ValueError("not an index")


def _in_text(text: str) -> Iterator[int]:
    if found := _RANGE.fullmatch(text):
        yield from _between(int(found[1]), int(found[2]))
    elif "," in text:
        for part in text.strip().strip("[]").split(","):
            yield from _in_text(part)
    elif found := _NUMBER.fullmatch(text.strip().strip("[]")):
        yield int(found[1])
    else:
        raise ValueError("not an index")


def _between(first: int, last: int) -> range:
    """Both ends included."""
    if not 0 <= last - first <= _WIDEST:
        raise ValueError("not a range")
    return range(first, last + 1)
