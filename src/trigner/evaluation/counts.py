"""How many were there, how many were found, how many were right."""

from __future__ import annotations

from collections.abc import Hashable, Set
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of one slice and the precision, recall and F1 that follow from them.

    `correct` of the `predicted` mentions are among the `gold` ones. All three rates are in [0, 1];
    an empty denominator scores 0. Raises ValueError for counts that cannot be.
    """

    correct: int
    predicted: int
    gold: int

    def __post_init__(self) -> None:
        if not 0 <= self.correct <= min(self.predicted, self.gold):
            raise ValueError(
                f"{self.correct} correct of {self.predicted} predicted and {self.gold} gold"
            )

    @property
    def precision(self) -> float:
        """Share of the predicted mentions that are right."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold mentions that were found."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.predicted + self.gold
        return 2 * self.correct / total if total else 0.0

    def as_json(self) -> dict[str, float | int]:
        """Rates in [0, 1] and counts."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "correct": self.correct,
            "predicted": self.predicted,
            "gold": self.gold,
        }


def count(gold: Set[Hashable], predicted: Set[Hashable]) -> Score:
    """Exact agreement of two sets."""
    return Score(len(gold & predicted), len(predicted), len(gold))
