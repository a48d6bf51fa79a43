"""Which rows of a source are in the output."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator


class Ranges:
    """Half-open ranges of rows that do not overlap; neighbours are merged into one."""

    def __init__(self) -> None:
        self._ranges: list[tuple[int, int]] = []

    def __len__(self) -> int:
        """How many there are."""
        return len(self._ranges)

    @property
    def rows(self) -> int:
        """How many rows are in them."""
        return sum(end - first for first, end in self._ranges)

    def add(self, first: int, end: int) -> None:
        """Add a range. Raises ValueError when a part of it is there already."""
        if list(self.gaps(first, end)) != [(first, end)]:
            raise ValueError(f"rows {first} to {end} are duplicated")
        at = bisect_right(self._ranges, first, key=lambda own: own[0])
        before = at > 0 and self._ranges[at - 1][1] == first
        behind = at < len(self._ranges) and self._ranges[at][0] == end
        start, stop = at - before, at + behind
        merged = [*self._ranges[start:stop], (first, end)]
        self._ranges[start:stop] = [(min(own[0] for own in merged), max(own[1] for own in merged))]

    def after(self, row: int) -> int:
        """The row itself, or the end of the range that it is in."""
        at = bisect_right(self._ranges, row, key=lambda own: own[0]) - 1
        return max(row, self._ranges[at][1]) if at >= 0 else row

    def gaps(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        """What is in none of the ranges, from `first` to `end`."""
        at = bisect_right(self._ranges, first, key=lambda own: own[0])
        start = self.after(first)
        for begin, stop in self._ranges[at:]:
            if begin >= end:
                break
            if start < begin:
                yield start, begin
            start = stop
        if start < end:
            yield start, end
