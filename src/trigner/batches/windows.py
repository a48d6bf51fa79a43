"""Sentences that an encoder cannot hold are read through overlapping windows of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np


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


def windows(subword_counts: Sequence[int], limit: int, overlap: float = 0.25) -> list[Window]:
    """Windows of at most `limit` subwords over words with these numbers of subwords.

    Neighbours share about `overlap` of a window, so a mention that is not longer than that lies
    whole in some window. Each word is answered for by exactly one window: the border runs through
    the middle of what two windows share, so a mention is seen with words around it. Raises
    ValueError when one word alone has more than `limit` subwords.
    """
    ends = np.concatenate([[0], np.cumsum(subword_counts)])
    length = len(ends) - 1
    if ends[-1] <= limit:
        return [Window(0, length, 0, length)]
    if max(subword_counts) > limit:
        raise ValueError(f"a word has {max(subword_counts)} subwords; the limit is {limit}")
    spans = []
    start = 0
    while True:
        stop = int(np.searchsorted(ends, ends[start] + limit, side="right")) - 1
        spans.append((start, stop))
        if stop == length:
            break
        wanted = int(np.searchsorted(ends, ends[stop] - overlap * limit, side="left"))
        start = min(max(start + 1, wanted), stop)
    borders = [(a[1] + b[0]) // 2 for a, b in pairwise(spans)]
    seen = [0, *(stop for _, stop in spans[:-1])]
    return [
        Window(*span, first, last, before)
        for span, first, last, before in zip(
            spans, [0, *borders], [*borders, length], seen, strict=True
        )
    ]
