"""Tagging schemes: mentions <-> tags."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trigner.errors import InputError
from trigner.schemes.scheme import (
    Cell,
    Decoding,
    Encoding,
    Explaining,
    Scheme,
    TagGroup,
    TagSpace,
    decoded_tags,
)
from trigner.schemes.toe import Toe
from trigner.schemes.w2ner import W2ner

__all__ = [
    "SCHEMES",
    "Cell",
    "Decoding",
    "Encoding",
    "Explaining",
    "Scheme",
    "TagGroup",
    "TagSpace",
    "Toe",
    "W2ner",
    "decoded_tags",
    "scheme",
]

SCHEMES: dict[str, Callable[[tuple[str, ...]], Scheme]] = {
    "w2ner": W2ner,
    "toe": Toe,
}
"""One line a scheme: its name and what makes it from the entity types."""


def scheme(name: str, labels: Sequence[str]) -> Scheme:
    """The scheme called `name` over the entity types `labels`. Raises InputError if unknown."""
    if name not in SCHEMES:
        raise InputError(f"unknown scheme {name!r}; known are: {', '.join(SCHEMES)}")
    return SCHEMES[name](tuple(labels))
