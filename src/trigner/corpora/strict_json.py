"""JSON without what Python's parser lets pass and no file can hold again: a key twice in an object,
and numbers that are not finite.
"""

from __future__ import annotations

import json
import math
from typing import Any

from trigner.machine import DuplicateKeyError, unique_keys


class NotFiniteError(ValueError):
    """A number that JSON does not know, or that is too large for a float."""


FLAWS = (DuplicateKeyError, NotFiniteError)
"""What the decoder raises besides errors of the json module."""


def _finite(number: str) -> float:
    value = float(number)
    return value if math.isfinite(value) else _refused(number)


def _refused(number: str) -> float:
    shown = number if len(number) <= 20 else f"{number[:20]}..."
    raise NotFiniteError(f"has the number {shown}, which is none or infinite")


def flaw_in(value: object) -> str:
    """What a value has that no JSON file can hold, with its article; empty if it has none."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case None | bool() | int() | str():
                pass
            case float() as own:
                if not math.isfinite(own):
                    return "a number that is NaN or infinite"
            case dict() as own:
                if any(not isinstance(key, str) for key in own):
                    return "a key that is no text, as all keys of JSON are"
                waiting += own.values()
            case list() | tuple() as own:
                waiting += own
            case own:
                kind = type(own)
                return f"a value of {kind.__module__}.{kind.__name__}, which JSON does not know"
    return ""


DECODER = json.JSONDecoder(
    object_pairs_hook=unique_keys, parse_float=_finite, parse_constant=_refused
)


def parsed(text: str) -> Any:
    """The value of a JSON text. Raises ValueError, of what is in `FLAWS` too."""
    return DECODER.decode(text)
