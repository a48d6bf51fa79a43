"""Values of JSON that others wrote: whether they can be handed on, and what can be read of them.

The readers of values give nothing for what is of another kind, and never raise.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from trigner.mentions import shortened

DEEPEST = 100
"""Objects and lists in one another: far more than a setting has, far less than stacks allow."""

_HALF = re.compile("[\ud800-\udfff]")


class DuplicateKeyError(ValueError):
    """An object has a key twice."""


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, as `object_pairs_hook` of `json`. Raises DuplicateKeyError.

    With a key twice, one of its values would be lost without a word.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        key = shortened(counts.most_common(1)[0][0])
        raise DuplicateKeyError(f"has the key {key} twice in one object")
    return found


def flaw_of(value: object, depth: int = 0) -> str:
    """Why a value that Python reads from JSON cannot be written again; empty where it can."""
    if isinstance(value, str):
        return "has half a character (a lone surrogate)" if _HALF.search(value) else ""
    if isinstance(value, float):
        return "" if math.isfinite(value) else "has a number that is NaN or infinite"
    if not isinstance(value, dict | list):
        return ""
    if depth == DEEPEST:
        return "is nested too deep"
    inside = (*value, *value.values()) if isinstance(value, dict) else value
    return next(filter(None, (flaw_of(own, depth + 1) for own in inside)), "")


def mapping(value: object) -> Mapping[str, Any]:
    """An object; an empty one for what is none."""
    return value if isinstance(value, Mapping) else {}


def text(value: object) -> str | None:
    """A text."""
    return value if isinstance(value, str) else None


def whole_number(value: object) -> int | None:
    """A count."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(value: object) -> float | None:
    """A number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
