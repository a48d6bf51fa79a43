"""Offsets of other tools: what they seem to count, told by the surface that stands there then."""

from __future__ import annotations

import pytest

from trigner.errors import miscounted
from trigner.mentions import Entity


@pytest.mark.parametrize(
    ("text", "surface", "fragments", "told"),
    [
        ("no\r\nleg pain", "leg pain", ((3, 11),), "to count a line end of Windows (CR LF) as one"),
        ("no\nleg pain.", "leg pain", ((4, 12),), "to be of a text with line ends of Windows"),
        ("🤕 leg and arm pain.", "leg pain", ((3, 6), (15, 19)), "to count UTF-16 units"),
        ("à leg pain", "leg", ((3, 6),), "to count bytes of UTF-8"),
        ("\ufeffleg pain", "leg", ((0, 3),), "not to count the byte order mark"),
    ],
)
def test_what_offsets_seem_to_count(text, surface, fragments, told, refused):
    assert miscounted(surface, text, fragments).startswith(f"; they seem {told}")
    with refused(error=ValueError):
        Entity.in_text(text, "ADR", fragments, surface=surface)


@pytest.mark.parametrize(
    "text", ["leg pain", "no\r\nleg pain", "no\nleg pain", "🤕 leg pain", "\ufeffleg pain", ""]
)
@pytest.mark.parametrize("fragments", [((0, 3),), ((1, 2), (5, 8))])
def test_what_nothing_explains_is_not_explained(text, fragments):
    assert miscounted("arm", text, fragments) == ""
