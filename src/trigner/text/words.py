"""Words of a text, with their character ranges."""

from __future__ import annotations

import re

from trigner.mentions import Fragment

_WORD = re.compile(r"\w+|[^\w\s]")


def word_ranges(text: str) -> list[Fragment]:
    """Ranges of the words of `text`, in order. Every non-blank character is in exactly one."""
    return [match.span() for match in _WORD.finditer(text)]
