"""Text as columns of a terminal, with nothing in it that would move the cursor or the columns."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len

from trigner.mentions import Fragment

_UNKNOWN = "\ufffd"
_CARRIER = "\u25cc"  # what a combining mark stands on that nothing comes before
_VARIATIONS = {*map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0xE0100, 0xE01F0))}


def printable(text: str) -> str:
    """The text for a terminal: white space as single blanks, no control characters.

    Control characters and characters without a meaning stand as U+FFFD. Those that only say how
    others are shown (joiners, variation selectors, marks of direction) are left out, unless
    there is nothing else.
    """
    return "".join(columns_of(text).cells)


def runs_right_to_left(text: str) -> bool:
    """Whether some of the text is written from right to left."""
    return any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text)


@dataclass(frozen=True, slots=True)
class Columns:
    """A text on one endless line.

    `cells` are what is shown, each a character with the marks that combine with it; `positions` are
    their columns. `starts[i]` is the column of the text's character `i`; combining marks have that
    of the cell after theirs. `positions` and `starts` end with the width of the whole.
    """

    cells: tuple[str, ...]
    positions: tuple[int, ...]
    starts: tuple[int, ...]

    def span(self, fragment: Fragment) -> Fragment:
        """Columns of a range of characters: whole cells, at least one where there are any."""
        start, end = self.starts[fragment[0]], self.starts[fragment[1]]
        if start == end:  # only marks of the cell before, or characters that are not shown
            start = self.positions[max(bisect_left(self.positions, start) - 1, 0)]
            end = max(end, start + 1)
        return start, end

    def shown(self, first: int, last: int) -> str:
        """What stands in the columns `[first, last)`."""
        begin, end = bisect_left(self.positions, first), bisect_left(self.positions, last)
        return "".join(self.cells[begin:end])

    def lines(self, width: int) -> Iterator[tuple[int, int]]:
        """Ranges of columns, at most `width` and a blank each; broken at blanks where possible.

        `width` is at least 2. There is at least one line, maybe empty.
        """
        first = 0
        while True:
            last = self._line_end(first, width)
            yield first, last
            if last >= self.positions[-1]:
                return
            first = last

    def _line_end(self, first: int, width: int) -> int:
        if self.positions[-1] - first <= width:
            return self.positions[-1]
        # The first cell that does not fit; never the line's first one.
        over = bisect_left(self.positions, first + width + 1) - 1
        if self.cells[over] == " ":
            return self.positions[over + 1]
        begin = bisect_left(self.positions, first)
        for cell in range(over, begin, -1):
            # Scripts of wide characters have no blanks: a line may end at any of them.
            if self.cells[cell - 1] == " " or self._is_wide(cell) or self._is_wide(cell - 1):
                return self.positions[cell]
        return self.positions[over]

    def _is_wide(self, cell: int) -> bool:
        return self.positions[cell + 1] - self.positions[cell] == 2


def columns_of(text: str) -> Columns:
    """The cells of a text; white space of any kind and length, line breaks too, is one blank."""
    cells: list[str] = []
    positions: list[int] = []
    starts: list[int] = []
    column = 0
    for character in text:
        starts.append(column)
        shown = _shown(character)
        if shown == " " and cells and cells[-1] == " ":
            continue
        width = cell_len(shown)
        if width == 0 and shown and not cells:
            shown, width = _CARRIER + shown, 1
        if width:
            cells.append(shown)
            positions.append(column)
            column += width
        elif shown:
            cells[-1] += shown
    if text and not cells:
        cells, positions, column = [_UNKNOWN], [0], 1
    return Columns(tuple(cells), (*positions, column), (*starts, column))


def _shown(character: str) -> str:
    """One character as it may be printed: itself, a blank, U+FFFD or nothing."""
    if character.isspace():
        return " "
    if character in _VARIATIONS:
        return ""
    category = unicodedata.category(character)
    if category == "Cf":
        # Signs that enclose Arabic numbers are of this category, but seen.
        return character if unicodedata.bidirectional(character) == "AN" else ""
    return _UNKNOWN if category.startswith("C") else character
