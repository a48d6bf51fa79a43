"""A model's answer -> items: whatever it was wrapped in and however it was written; never raises.

The answer is looked for in fenced blocks (the last one that holds an answer counts), else in the
first list of objects, else in objects that stand by themselves.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trigner.errors import require_extra
from trigner.prompting.brackets import Bracketed, bracketed

Place = Literal["block", "list", "objects", "word"]
Spelling = Literal["JSON", "Python", "repaired"]

_INDEX = ("index", "indices", "indexes", "ids")
_TEXT = ("entity", "text", "mention")
_TYPE = ("type", "label")
_ENTITIES = "entities"

_BLOCK = re.compile(
    r"(?:```|~~~)[ \t]*(?:[A-Za-z0-9_+.-]*(?=[\s\[{]))?(.*?)(?:```|~~~|'''|´´´|‘‘‘|’’’|\Z)",  # noqa: RUF001
    re.DOTALL,
)
_NUMBER = re.compile(r"\s*(-?\d{1,9})\s*(?::.*)?", re.DOTALL)
_RANGE = re.compile(r"\s*(\d{1,9})\s*(?:-|–|—|\.\.+|to)\s*(\d{1,9})\s*")
_NOTHING = {"[]", "{}", "null", "none", "no entities"}
_AND_SO_ON = {"etc", "etc.", "...", "…"}
_WIDEST = 1_000
_FURTHEST = 999_999_999
"""As many digits as `_NUMBER` takes; Python refuses to write down what is much longer."""

ECHOES = ("words of the entity", "index of each word")
"""What stands in the templates' forms of the answer in place of values."""


@dataclass(frozen=True, slots=True)
class Item:
    """One entity as the model named it; None for what it did not give in a readable form."""

    indices: tuple[int, ...] | None
    text: str | None
    label: str | None
    is_echo: bool = False
    """Whether it repeats the prompt's template in place of an answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was read from an answer.

    `place` is where it was found and `spelling` how it was written; both are None when there was
    none. `truncated` tells that a list or object was never closed: what was complete is kept.
    """

    items: tuple[Item, ...] = ()
    place: Place | None = None
    spelling: Spelling | None = None
    truncated: bool = False

    @property
    def is_unparsable(self) -> bool:
        """Whether there is nothing in it that is an answer; an empty list is one."""
        return self.place is None


@dataclass(frozen=True, slots=True)
class _Objects:
    values: list[dict[str, Any]]
    spelling: Spelling
    truncated: bool = False


def parse(text: str) -> Answer:
    """The items of an answer."""
    for block in reversed([found.group(1) for found in _BLOCK.finditer(text)]):
        inside = _whole(block) or _first_list(block) or _objects(block)
        if inside is not None:
            return _answer(inside, "block")
    if (whole := _whole(text)) is not None:
        return _answer(whole, "list")
    if (found := _first_list(text)) is not None:
        return _answer(found, "list")
    if (found := _objects(text)) is not None:
        return _answer(found, "objects")
    if text.strip().strip(".").casefold() in _NOTHING:
        return Answer(place="word")
    return Answer()


def _answer(found: _Objects, place: Place) -> Answer:
    return Answer(
        tuple(_item(value) for value in found.values), place, found.spelling, found.truncated
    )


def _whole(text: str) -> _Objects | None:
    if text.strip().casefold() in _NOTHING:
        return _Objects([], "JSON")
    return _read(Bracketed(text.strip(), complete=True), (("JSON", _json), ("Python", _python)))


def _first_list(text: str) -> _Objects | None:
    for candidate in bracketed(text, "["):
        found = _read(candidate)
        if found is not None:
            return found
    return None


def _objects(text: str) -> _Objects | None:
    """All objects that stand by themselves; one that lists entities counts for all."""
    found = [one for candidate in bracketed(text, "{") if (one := _read(candidate)) is not None]
    if not found:
        return None
    worst = max(found, key=lambda one: ("JSON", "Python", "repaired").index(one.spelling))
    values = [value for one in found for value in one.values]
    return _Objects(values, worst.spelling, any(one.truncated for one in found))


def _read(
    candidate: Bracketed,
    readers: Sequence[tuple[Spelling, Callable[[str], Any]]] | None = None,
) -> _Objects | None:
    for spelling, reader in readers or _READERS:
        try:
            values = _normalised(reader(candidate.text))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        if values is not None:
            return _Objects(values, spelling, not candidate.complete)
    return None


def _json(text: str) -> Any:
    return json.loads(text)


def _python(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that Python does not know
        return ast.literal_eval(text)


def _repaired(text: str) -> Any:
    require_extra("llm", "json_repair")
    from json_repair import repair_json

    try:
        return repair_json(text, return_objects=True, skip_json_loads=True)
    except Exception as error:  # it promises nothing
        raise ValueError("not to be repaired") from error


_READERS: tuple[tuple[Spelling, Callable[[str], Any]], ...] = (
    ("JSON", _json),
    ("Python", _python),
    ("repaired", _repaired),
)


def _normalised(value: Any) -> list[dict[str, Any]] | None:
    """The objects of a value; None when it is no answer. Others in a list of objects are noise."""
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
    told = [part.casefold() for part in written if isinstance(part, str)]
    return Item(
        indices=_indices(index),
        text=text if isinstance(text, str) and text.strip() else None,
        label=label if isinstance(label, str) else None,
        is_echo=any(echo in part for echo in ECHOES for part in told),
    )


def _first(value: dict[str, Any], keys: Sequence[str]) -> Any:
    return next((value[key] for key in keys if key in value), None)


def _indices(value: Any) -> tuple[int, ...] | None:
    """Indices as they were given, in order; None when there is none or one cannot be read."""
    try:
        found = tuple(_numbers(value))
    except (ValueError, RecursionError):  # lists in lists: JSON of C may go deeper than we
        return None
    return found or None


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, bool) or value is None:
        raise ValueError("no index")
    if isinstance(value, (int, float)):
        if not abs(value) <= _FURTHEST or value != int(value):
            raise ValueError("no index")
        yield int(value)
    elif isinstance(value, str):
        yield from _written(value)
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
        raise ValueError("no index")


def _written(text: str) -> Iterator[int]:
    if found := _RANGE.fullmatch(text):
        yield from _between(int(found[1]), int(found[2]))
    elif "," in text:
        for part in text.strip().strip("[]").split(","):
            yield from _written(part)
    elif found := _NUMBER.fullmatch(text.strip().strip("[]")):
        yield int(found[1])
    else:
        raise ValueError("no index")


def _between(first: int, last: int) -> range:
    """Both ends included."""
    if not 0 <= last - first <= _WIDEST:
        raise ValueError("no range")
    return range(first, last + 1)
