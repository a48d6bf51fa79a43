"""The parts of a report, and how the cells of its tables are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas
from pandas import DataFrame

from trigner.evaluation import SLICES
from trigner.lab.studies.summary import RATES, Spread

SLICE_NAMES = dict(zip(SLICES, ("overall", "DiscSent", "DiscEnt"), strict=True))
"""As the paper calls them: sentences with a discontinuous entity, discontinuous entities alone."""

RATE_NAMES = dict(zip(RATES, ("F1", "P", "R"), strict=True))
NOTHING = "–"


@dataclass(frozen=True, eq=False)
class Table:
    """Cells as text; `**` around one marks the best of its column.

    `prose` says that cells hold words to be read, not numbers to be compared.
    """

    title: str
    cells: DataFrame
    note: str = ""
    prose: bool = False

    @property
    def columns(self) -> list[str]:
        return list(self.cells.columns)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells row by row."""
        return list(self.cells.itertuples(index=False, name=None))


@dataclass(frozen=True)
class Figure:
    """An SVG element, what it shows, and the name of its file."""

    name: str
    title: str
    svg: str


@dataclass(frozen=True)
class Section:
    """A heading with its content, in this order."""

    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """All of a report."""

    title: str
    about: tuple[str, ...]
    sections: tuple[Section, ...]


def cells_of(rows: Iterable[Any], columns: list[str] | None = None) -> DataFrame:
    """Rows, or dicts by column, as text; what is missing as a dash."""
    cells = DataFrame(list(rows), columns=columns, dtype=object)
    return cells.map(_text)


def _text(cell: Any) -> str:
    return NOTHING if pandas.isna(cell) else str(cell)


def score_table(
    title: str,
    systems: Sequence[tuple[str, str]],
    spreads: Sequence[Sequence[Spread | None]],
    comparable: Sequence[bool],
    note: str = "",
) -> Table:
    """Names and seeds of systems with all rates on all slices, the best of the comparable bold."""
    columns = [f"{SLICE_NAMES[s]} {RATE_NAMES[r]}" for s in SLICES for r in RATES]
    cells = with_best(spreads, comparable, columns)
    cells.insert(0, "system", [name for name, _ in systems])
    cells.insert(1, "seeds", [seeds for _, seeds in systems])
    return Table(title, cells, note)


def with_best(
    spreads: Sequence[Sequence[Spread | None]], comparable: Sequence[bool], columns: list[str]
) -> DataFrame:
    """Spreads as text, the highest mean of each column marked, if it is of a comparable row."""
    cells = cells_of(spreads, columns)
    means = DataFrame([[s and s.mean for s in row] for row in spreads], columns=columns)
    means = means.astype(float)
    means.loc[[not each for each in comparable]] = float("nan")
    best = means.eq(means.max()) & (means.max() > means.min())
    return cells.mask(best, "**" + cells + "**")
