"""Sentences that an encoder cannot hold are read through overlapping windows of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

MOST_WORDS = 200
"""Words of a window, whatever the encoder can hold: a grid of them has 40,000 cells.

No sentence of spl-adr has as many; what has is mostly a list or a table without stops
(research/decisions/streaming.md).
"""

OVERLAP = 0.25
"""How much of a window its neighbour has too."""


@dataclass(frozen=True, slots=True)
class Window:
    """Words `[start, stop)` of a sentence; those from `first` to `last` it answers for.

    `last` is exclusive; `seen` is where the window before stops (0: there is none).
    """

    start: int
    stop: int
    first: int
    last: int
    seen: int = 0

    def answers_for(self, first: int, last: int) -> bool:
        """Whether a mention from word `first` to word `last`, both in the window, belongs to it.

        Of all windows that hold a mention exactly one says so: the one that answers for its first
        word or, where that one stops too early, the next that goes far enough.
        """
        return self.first <= first < self.last or (first < self.first and last >= self.seen)


@cache
def whole_window(length: int) -> Window:
    """The window of a sentence that needs no others: equal ones are in memory once."""
    return Window(0, length, 0, length)


def windows(subword_counts: Sequence[int], limit: int, *, words: int = MOST_WORDS) -> list[Window]:
    """Windows of at most `limit` subwords and `words` words, of these numbers of subwords each.

    Neighbours share about `OVERLAP` of a window, so a mention that is not longer than that lies
    whole in some window. Each word is answered for by exactly one window: the border runs through
    the middle of what two windows share, so a mention is seen with words around it. Raises
    ValueError when one word alone has more than `limit` subwords.
    """
    ends = np.concatenate([[0], np.cumsum(subword_counts)])
    length = len(ends) - 1
    if ends[-1] <= limit and length <= words:
        return [whole_window(length)]
    if max(subword_counts) > limit:
        raise ValueError(f"a word has {max(subword_counts)} subwords; the limit is {limit}")
    spans = []
    start = 0
    while True:
        held = int(np.searchsorted(ends, ends[start] + limit, side="right")) - 1
        stop = min(held, start + words)
        spans.append((start, stop))
        if stop == length:
            break
        wanted = int(np.searchsorted(ends, ends[stop] - OVERLAP * limit, side="left"))
        start = min(max(start + 1, wanted, stop - int(OVERLAP * words)), stop)
    borders = [(a[1] + b[0]) // 2 for a, b in pairwise(spans)]
    seen = [0, *(stop for _, stop in spans[:-1])]
    return [
        Window(*span, first, last, before)
        for span, first, last, before in zip(
            spans, [0, *borders], [*borders, length], seen, strict=True
        )
    ]
