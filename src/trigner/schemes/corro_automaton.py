"""Well-formed tags of two-layer sets of mentions: ten tags and thirteen states for one type.

A reconstruction: the article's own automaton was not at hand (`docs/guides/systems.md`).
"""

from __future__ import annotations

from functools import lru_cache

from trigner.schemes.automaton import Arc, Automaton
from trigner.schemes.grammar import NO_TAG, Grammar

CB, CI, DB_X, DB_Y, DI_BX, DI_BY, DI_IX, DI_IY, DI_O = range(9)
"""A label's tags; `O` stands before those of all labels."""

KINDS = ("CB", "CI", "DB-Bx", "DB-By", "DI-Bx", "DI-By", "DI-Ix", "DI-Iy", "DI-O")

OUTSIDE = "S"

# State -> tag -> next state. `NEW` begins a mention or set, from outside and from final states.
INSIDE = {
    "C": {CI: "C"},
    "1x": {DI_IX: "1x", DI_BX: "Nx", DI_BY: "Txy", DI_O: "Gx"},
    "1y": {DI_IY: "1y", DI_BY: "Ny", DI_BX: "Tyx", DI_O: "Gy"},
    "Txy": {DI_IY: "Txy", DI_BX: "Fx", DI_BY: "Fy", DI_O: "Gxy"},
    "Tyx": {DI_IX: "Tyx", DI_BY: "Fy", DI_BX: "Fx", DI_O: "Gxy"},
    "Nx": {DI_IX: "Nx", DI_BX: "Nx", DI_BY: "Fy", DI_O: "Gx"},
    "Ny": {DI_IY: "Ny", DI_BY: "Ny", DI_BX: "Fx", DI_O: "Gy"},
    "Gx": {DI_O: "Gx", DI_BX: "Nx", DI_BY: "Fy"},
    "Gy": {DI_O: "Gy", DI_BY: "Ny", DI_BX: "Fx"},
    "Fx": {DI_IX: "Fx", DI_BX: "Fx", DI_BY: "Fy", DI_O: "Gxy"},
    "Fy": {DI_IY: "Fy", DI_BY: "Fy", DI_BX: "Fx", DI_O: "Gxy"},
    "Gxy": {DI_O: "Gxy", DI_BX: "Fx", DI_BY: "Fy"},
}

NEW = {CB: "C", DB_X: "1x", DB_Y: "1y"}
FINAL = ("C", "Fx", "Fy")

_CONTINUED = {CB: CI, CI: CI, DB_X: DI_IX, DI_BX: DI_IX, DI_IX: DI_IX}
_CONTINUED |= {DB_Y: DI_IY, DI_BY: DI_IY, DI_IY: DI_IY}
_EXCHANGED = {DB_X: DB_Y, DI_BX: DI_BY, DI_IX: DI_IY}
_EXCHANGED |= {y: x for x, y in _EXCHANGED.items()}
_REOPENED = {DB_X: DI_BX, DB_Y: DI_BY, DI_BX: DB_X, DI_BY: DB_Y}


def tag_of(label: int, kind: int) -> int:
    """The class of a label's tag."""
    return 1 + label * len(KINDS) + kind


@lru_cache(maxsize=64)
def corro_grammar(labels: tuple[str, ...]) -> Grammar:
    """A copy of the states for each label; all share the state outside."""
    states = [OUTSIDE, *(f"{state}-{label}" for label in labels for state in INSIDE)]
    number = {name: index for index, name in enumerate(states)}
    finals = [number[OUTSIDE]]
    arcs: list[Arc] = []
    new = [Arc(0, 0, number[OUTSIDE])]
    for index, label in enumerate(labels):
        finals += [number[f"{state}-{label}"] for state in FINAL]
        new += [Arc(0, tag_of(index, k), number[f"{t}-{label}"]) for k, t in NEW.items()]
        arcs += [
            Arc(number[f"{source}-{label}"], tag_of(index, kind), number[f"{target}-{label}"])
            for source, steps in INSIDE.items()
            for kind, target in steps.items()
        ]
    arcs += [Arc(final, arc.tag, arc.target) for final in finals for arc in new]
    each = range(len(labels))
    return Grammar(
        tags=("O", *(f"{kind}-{label}" for label in labels for kind in KINDS)),
        automaton=Automaton(tuple(states), tuple(sorted(arcs)), 0, tuple(finals)),
        continued=(NO_TAG, *_mapped(len(labels), _CONTINUED, NO_TAG)),
        exchanged=(0, *_mapped(len(labels), _EXCHANGED, None)),
        reopened=(0, *_mapped(len(labels), _REOPENED, None)),
        opening=tuple(tag_of(label, kind) for label in each for kind in (DB_X, DB_Y)),
        components=(
            tuple(tag_of(label, kind) for label in each for kind in (DB_X, DI_BX)),
            tuple(tag_of(label, kind) for label in each for kind in (DB_Y, DI_BY)),
        ),
    )


def _mapped(labels: int, table: dict[int, int], otherwise: int | None) -> list[int]:
    """The table applied to each tag of each label. Tags that it lacks become `otherwise`, or with
    None stay as they are."""
    found = []
    for label in range(labels):
        for kind in range(len(KINDS)):
            own = tag_of(label, kind)
            absent = own if otherwise is None else otherwise
            found.append(tag_of(label, table[kind]) if kind in table else absent)
    return found
