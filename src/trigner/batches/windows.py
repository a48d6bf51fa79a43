"""Sentences that an encoder cannot hold are read through overlapping windows of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True, slots=True)
class Window:
    """Words `[start, stop)` of a sentence; those from `first` to `last` it answers for.

    A mention belongs to the window that answers for its first word; `last` is exclusive.
    """

    start: int
    stop: int
    first: int
    last: int


def windows(piece_counts: Sequence[int], limit: int, overlap: float = 0.25) -> list[Window]:
    """Windows of at most `limit` pieces over words with these numbers of pieces.

    Neighbours share about `overlap` of a window. Each word's mentions belong to exactly one
    window: the border runs through the middle of what two windows share, so a mention has at
    least half an overlap of words behind its first word. Raises ValueError when one word alone
    has more than `limit` pieces.
    """
    ends = np.concatenate([[0], np.cumsum(piece_counts)])
    length = len(ends) - 1
    if ends[-1] <= limit:
        return [Window(0, length, 0, length)]
    if max(piece_counts) > limit:
        raise ValueError(f"a word has {max(piece_counts)} pieces; the limit is {limit}")
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
    return [
        Window(*span, first, last)
        for span, first, last in zip(spans, [0, *borders], [*borders, length], strict=True)
    ]
