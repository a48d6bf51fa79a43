"""Surfaces that annotators' tools wrote in addition to offsets: checked, never trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trigner.corpora.reading import Reading
from trigner.errors import InputError, miscounted
from trigner.mentions import Fragment, shortened, surface_of

# CADEC as released has 4 surfaces among its 6,318 ADR mentions that the text does not have.
# Offsets that belong to other texts (other line ends, another version) differ nearly everywhere.
_FEW = 5
_SHARE = 0.02


@dataclass(slots=True)
class Surfaces:
    """Counts surfaces that differ from the text, for corpora in which a few are known to."""

    reading: Reading
    checked: int = 0
    differing: int = 0

    def check(
        self, claimed: str, text: str, given: Sequence[Fragment], *, path: Path, line: int
    ) -> None:
        """Note a surface that is not what the text has at these fragments, in either order.

        White space does not matter, nor do the dots that stand for a gap.
        """
        self.checked += 1
        words = [word for word in claimed.split() if word != "..."]
        in_order, as_given = surface_of(text, sorted(given)), surface_of(text, given)
        texts = [
            [word for word in found.split() if word != "..."] for found in (in_order, as_given)
        ]
        if words not in texts:
            self.differing += 1
            self.reading.note(
                f"annotated text {shortened(claimed)} differs from the text at its offsets,"
                f" {shortened(in_order)}{miscounted(claimed, text, sorted(given))}; the offsets"
                " are used",
                path=path,
                line=line,
            )

    def check_total(self, *, path: Path) -> None:
        """Raises InputError when so many differ that the offsets cannot belong to the texts."""
        if self.differing > max(_FEW, _SHARE * self.checked):
            raise InputError(
                f"{self.differing} of {self.checked} surfaces do not match the texts at their"
                " offsets: texts and annotations do not belong together",
                path=path,
            )
