"""What other models make of a sentence's pairs of words, as small as it can be kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trigner.arrays import Floats, Integers

LEAST = 1e-3
"""Pairs of words in which no tag is as probable as this are not kept: they have none."""


@dataclass(frozen=True, slots=True, eq=False)
class SoftTags:
    """Probabilities of the tags in those cells of a sentence's grid that may have one.

    `cells [N]` are indices of the grid row by row, `probabilities [N, C]` in half precision. Where
    a cell has one of several tags, "none" is not among them: it has what is left of 1.
    """

    cells: Integers
    probabilities: NDArray[np.float16]

    @classmethod
    def of(cls, probabilities: Floats) -> SoftTags:
        """Of a whole grid `[L, L, C]`."""
        every = probabilities.reshape(-1, probabilities.shape[-1])
        cells = np.flatnonzero(every.max(axis=-1) >= LEAST)
        return cls(cells, every[cells].astype(np.float16))

    def grid(self, length: int) -> NDArray[np.float32]:
        """The grid of a sentence of so many words, `[L, L, C]`."""
        every = np.zeros((length * length, self.probabilities.shape[-1]), dtype=np.float32)
        every[self.cells] = self.probabilities
        return every.reshape(length, length, -1)
