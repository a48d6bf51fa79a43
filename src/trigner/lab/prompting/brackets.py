"""Finds bracketed lists and objects inside other text, also ones that were cut off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_CLOSING = {"[": "]", "{": "}"}
_LIST = re.compile(r"\[(?=\s*[{\]])")
_OBJECT = re.compile(r"\{(?=\s*[\"'\w}])")
_LONGEST, _MOST = 50_000, 100
"""Limits: characters examined after an opening bracket, and opening brackets examined."""


@dataclass(frozen=True, slots=True)
class Bracketed:
    """A list or object; a list that was never closed ends after its last complete object."""

    text: str
    complete: bool


def bracketed(text: str, opening: Literal["[", "{"]) -> Iterator[Bracketed]:
    """Each outermost list of objects (or empty list), or each outermost object, in order.

    Brackets inside strings are ignored. A list that was never closed is skipped if it has no
    complete object, and an object that was never closed always.
    """
    pattern = _LIST if opening == "[" else _OBJECT
    position = 0
    for _ in range(_MOST):
        start = pattern.search(text, position)
        if start is None:
            return
        end, whole = _end(text, start.start())
        if end is not None:
            yield Bracketed(text[start.start() : end], complete=True)
        elif opening == "[" and whole is not None:
            yield Bracketed(text[start.start() : whole] + "]", complete=False)
            return
        position = end if end is not None else start.end()


def _end(text: str, start: int) -> tuple[int | None, int | None]:
    """Ends of the bracketed text (None: never closed) and of its last complete inner object."""
    open_brackets: list[str] = []
    whole: int | None = None
    position, last = start, min(len(text), start + _LONGEST)
    while position < last:
        character = text[position]
        if character in "\"'" and _opens_string(text, position):
            end = _string_end(text, position, last)
            if end is None:
                return None, whole
            position = end
            continue
        if character in _CLOSING:
            open_brackets.append(_CLOSING[character])
        elif character in "]}":
            if open_brackets[-1] != character:
                return None, whole
            open_brackets.pop()
            if not open_brackets:
                return position + 1, whole
            if len(open_brackets) == 1 and character == "}":
                whole = position + 1
        position += 1
    return None, whole


def _opens_string(text: str, position: int) -> bool:
    """A quote opens a string where a key or value may start; elsewhere it is an apostrophe."""
    before = text[max(0, position - 200) : position].rstrip()
    return before.endswith(("[", "{", ",", ":", "("))


def _string_end(text: str, start: int, last: int) -> int | None:
    """The position after the closing quote; None if the string is never closed.

    A double quote always closes it; a single one only before what may follow a value, so that
    apostrophes inside words do not.
    """
    quote, position = text[start], start + 1
    while position < last:
        if text[position] == "\\":
            position += 2
            continue
        if text[position] == quote:
            following = text[position + 1 : position + 200].lstrip()[:1]
            if quote == '"' or following in (",", ":", "]", "}", ")", ""):
                return position + 1
        position += 1
    return None
