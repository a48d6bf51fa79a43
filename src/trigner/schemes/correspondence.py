"""Which tags of a scheme over other entity types say the same: by names with types left open.

A name is its pattern, such as `THW-{type}`, and the types in it. Names are not taken apart:
`II-N-X` may be a gap of the type `X` or a segment of the type `N-X`. The scheme names its tags anew
over labels that no corpus has, and these are found in the names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trigner.schemes.grammar import Grammar
from trigner.schemes.scheme import Scheme

_PLACEHOLDER = "\0{}\0"
_PLACED = re.compile("\0([0-9]+)\0")
_OPEN = "{type}"


@dataclass(frozen=True, slots=True)
class TypedName:
    """A name with `{type}` in place of its `types`, which stand in the order of their places."""

    pattern: str
    types: tuple[str, ...]


def tag_names(scheme: Scheme) -> tuple[str, ...]:
    """The names of a scheme's tags."""
    return scheme.tags


def arc_names(grammar: Grammar) -> tuple[str, ...]:
    """A name for each arc of a grammar's automaton: state, tag, state."""
    states = grammar.automaton.states
    return tuple(
        f"{states[arc.source]} {grammar.tags[arc.tag]} {states[arc.target]}"
        for arc in grammar.automaton.arcs
    )


def typed_names(
    make: Callable[[tuple[str, ...]], Scheme],
    labels: Sequence[str],
    names: Callable[[Scheme], Sequence[str]] = tag_names,
) -> tuple[TypedName, ...]:
    """The `names` of the scheme that `make` gives for labels."""
    placeholders = tuple(_PLACEHOLDER.format(number) for number in range(len(labels)))
    return tuple(
        TypedName(
            _PLACED.sub(_OPEN, name),
            tuple(labels[int(number)] for number in _PLACED.findall(name)),
        )
        for name in names(make(placeholders))
    )


def origins(old: Sequence[TypedName], new: Sequence[TypedName]) -> tuple[tuple[int, ...], ...]:
    """For each new name the places of the old names that it continues.

    That of the same name. Where there is none: of all names that become equal to it when types that
    are new stand in place of old ones, different ones for different ones; none if there are none.
    """
    places = {name: place for place, name in enumerate(old)}
    known = {own for name in old for own in name.types}
    alike: defaultdict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(old):
        alike[name.pattern].append(place)
    return tuple(
        (places[name],)
        if name in places
        else tuple(i for i in alike[name.pattern] if _continues(name.types, old[i].types, known))
        for name in new
    )


def _continues(new: Sequence[str], old: Sequence[str], known: set[str]) -> bool:
    """Whether old types give new ones: known ones stay, equal ones are equal, others differ."""
    pairs = set(zip(new, old, strict=True))
    return len(pairs) == len(set(new)) == len(set(old)) and all(
        own == before for own, before in pairs if own in known
    )
