"""How much of a job is done, and how long the rest should take."""

from __future__ import annotations

from collections.abc import Iterable
from time import monotonic

from trigner.machine import duration


class Progress:
    """Rows that are done of rows that there are; the latter are guessed where only reading tells.

    A source of unknown length has as many rows for its bytes as those that were read so far.
    """

    def __init__(self) -> None:
        self.done = 0
        self.errors = 0
        self._known = 0
        self._bytes = 0
        """Of all sources of unknown length."""
        self._read: dict[int, tuple[float, float]] = {}
        """By source of unknown length its rows, as guessed, and its bytes."""
        self._rows = self._read_bytes = 0.0
        self._began, self._before = monotonic(), 0

    def expect(self, rows: int | None, size: int) -> None:
        """A source of so many rows, or of nobody knows how many in so many bytes."""
        if rows is None:
            self._bytes += size
        else:
            self._known += rows

    def begin(self, rows: int, errors: int) -> None:
        """So many rows were done before."""
        self.done = self._before = rows
        self.errors = errors
        self._began = monotonic()

    def read(self, source: int, rows: int, share: float, size: int) -> None:
        """The first rows of a source of unknown length are this share of its bytes."""
        if share > 0:
            before = self._read.get(source, (0.0, 0.0))
            now = self._read[source] = rows / share, float(size)
            self._rows += now[0] - before[0]
            self._read_bytes += now[1] - before[1]

    @property
    def total(self) -> int | None:
        """The rows that there are, None while nobody can guess them."""
        if self._bytes and not self._read_bytes:
            return None
        guessed = self._rows * self._bytes / self._read_bytes if self._bytes else 0
        return max(self.done, round(self._known + guessed))

    @property
    def is_exact(self) -> bool:
        """Whether no source is of unknown length."""
        return not self._bytes

    def detail(self) -> str:
        """Rows a second, time left and errors, as one line has them."""
        rate = (self.done - self._before) / max(1e-9, monotonic() - self._began)
        shown: Iterable[str] = [f"{rate:,.1f} rows/s", f"{self.errors:,} errors"]
        if (total := self.total) is not None and rate > 0:
            about = "" if self.is_exact else "about "
            shown = [f"{about}{duration((total - self.done) / rate)} left", *shown]
        return "".join(f", {each}" for each in shown)
