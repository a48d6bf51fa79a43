"""What reports are made of, and how their cells are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trigner.evaluation import SLICES
from trigner.studies.summary import RATES, Spread

SLICE_NAMES = dict(zip(SLICES, ("overall", "DiscSent", "DiscEnt"), strict=True))
"""As the paper calls them: sentences with a discontinuous entity, discontinuous entities alone."""

RATE_NAMES = dict(zip(RATES, ("F1", "P", "R"), strict=True))
NOTHING = "–"


@dataclass(frozen=True)
class Table:
    """Cells as text; `**` around one marks the best of its column.

    `prose` says that cells hold words to be read, not numbers to be compared.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    prose: bool = False


@dataclass(frozen=True)
class Figure:
    """An SVG element, what it shows, and what a file of it may be called."""

    name: str
    title: str
    svg: str


@dataclass(frozen=True)
class Section:
    """A heading with what stands under it, in this order."""

    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    remarks: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Report:
    """All of a report."""

    title: str
    about: tuple[str, ...]
    sections: tuple[Section, ...]


def with_best(
    cells: Sequence[Sequence[Spread | None]], comparable: Sequence[bool]
) -> list[list[str]]:
    """Spreads as text, the highest mean of each column marked, if it is of a comparable row."""
    shown = [[NOTHING if spread is None else str(spread) for spread in row] for row in cells]
    for column in range(len(cells[0]) if cells else 0):
        means = {
            number: spread.mean
            for number, row in enumerate(cells)
            if comparable[number] and (spread := row[column]) is not None
        }
        best = max(means.values(), default=0.0)
        for number, mean in means.items():
            if mean == best > min(means.values()):
                shown[number][column] = f"**{shown[number][column]}**"
    return shown
