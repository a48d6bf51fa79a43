"""A multi-label grid of five tags in three groups, one of each triangle, for three sentences."""

from __future__ import annotations

from trigner.schemes.scheme import TagGroup

LENGTHS = (2, 4, 3)
CLASSES = 5
GROUPS = (
    TagGroup("links", 0, 2),
    TagGroup("spans", 2, 4, "upper"),
    TagGroup("ends", 4, 5, "lower"),
)
