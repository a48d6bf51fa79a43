"""Sentences of a text, as character ranges."""

from __future__ import annotations

import re

from trigner.mentions import Fragment

_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n[^\S\n]*\n\s*|\r\n[^\S\n]*\r\n\s*")


def sentence_ranges(text: str) -> list[Fragment]:
    """Ranges of the sentences of `text`, in order; only blanks stand between them."""
    ranges, start = [], 0
    for match in _END.finditer(text):
        ranges.append((start, match.start()))
        start = match.end()
    ranges.append((start, len(text)))
    return [(a, b) for a, b in ranges if text[a:b].strip()]
