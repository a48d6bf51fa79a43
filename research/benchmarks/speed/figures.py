"""What a section of the benchmark hands over."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Work = Callable[[], object]
Tell = Callable[[str], None]
"""Takes what is being measured now, for the progress line."""


@dataclass(frozen=True)
class Figure:
    """One line of the table. `reached` is None where nothing was asked for."""

    what: str
    measured: str
    target: str = ""
    reached: bool | None = None
    value: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Section:
    """Figures under one heading; `notes` say how they were measured."""

    title: str
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Spread:
    """Median and quartiles."""

    median: float
    low: float
    high: float

    def times(self) -> str:
        """As a ratio."""
        return f"{self.median:.2f} x ({self.low:.2f} to {self.high:.2f})"

    def milliseconds(self) -> str:
        """Of seconds."""
        return f"{1e3 * self.median:.1f} ms ({1e3 * self.low:.1f} to {1e3 * self.high:.1f})"


def spread(values: Sequence[float]) -> Spread:
    """Median and quartiles of at least one value."""
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high)


def ratios(of: Sequence[float], to: Sequence[float]) -> Spread:
    """Of times measured in turns."""
    return spread([a / b for a, b in zip(of, to, strict=False)])


def seconds(work: Work) -> float:
    """Wall-clock time of one call."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def in_turns(
    works: Mapping[str, Work], rounds: int, *, warmed: bool = False
) -> dict[str, list[float]]:
    """Seconds of each work in each round, after one call that does not count.

    All take turns, so that what else the machine does falls on all alike. `warmed`: one more call
    that does not count begins each turn, so that none pays for the memory that the one before it
    took: a language model's training step takes gigabytes.
    """
    for work in works.values():
        work()
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            if warmed:
                work()
            taken[name].append(seconds(work))
    return taken


def at_most(what: str, limit: float, found: Spread, note: str = "") -> Figure:
    """A ratio that may not exceed a limit."""
    reached = found.median <= limit
    return Figure(what, found.times(), f"≤ {limit:g} x", reached, found.median, note)


def at_least(what: str, limit: float, found: Spread, note: str = "") -> Figure:
    """A ratio that must reach a limit."""
    reached = found.median >= limit
    return Figure(what, found.times(), f"≥ {limit:g} x", reached, found.median, note)


def told_ratio(what: str, found: Spread, note: str = "") -> Figure:
    """A ratio, for the record."""
    return Figure(what, found.times(), value=found.median, note=note)


def told(what: str, found: Spread, note: str = "", *, limit: float | None = None) -> Figure:
    """Milliseconds, for the record, or with a limit in seconds."""
    target = "" if limit is None else f"≤ {1e3 * limit:,.0f} ms"
    reached = None if limit is None else found.median <= limit
    return Figure(what, found.milliseconds(), target, reached, found.median, note)
