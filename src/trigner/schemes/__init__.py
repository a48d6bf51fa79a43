"""Tagging schemes: mentions <-> tags."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from trigner.errors import InputError
from trigner.schemes.automaton import Arc, Automaton
from trigner.schemes.bio import Bio
from trigner.schemes.biohd import Biohd, Biohd1234
from trigner.schemes.corro import Corro
from trigner.schemes.grammar import Grammar, SequenceScheme
from trigner.schemes.mac import Mac
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
    "Arc",
    "Automaton",
    "Bio",
    "Biohd",
    "Biohd1234",
    "Cell",
    "Corro",
    "Decoding",
    "Encoding",
    "Explaining",
    "Grammar",
    "Mac",
    "Scheme",
    "SequenceScheme",
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
    "mac": Mac,
    "mac_minimal": partial(Mac, full=False),
    "corro": Corro,
    "biohd": Biohd,
    "biohd1234": Biohd1234,
    "bio": Bio,
}
"""Each scheme by name: what builds it from the entity types."""


def scheme(name: str, labels: Sequence[str]) -> Scheme:
    """The scheme called `name` over the entity types `labels`. Raises InputError if unknown."""
    if name not in SCHEMES:
        raise InputError(f"unknown scheme {name!r}; known are: {', '.join(SCHEMES)}")
    return SCHEMES[name](tuple(labels))
