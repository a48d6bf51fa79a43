"""How far scores can be taken for probabilities, and thresholds on them.

A score is calibrated when of all predictions with a score near 0.8 eight in ten are right.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trigner.arrays import Floats
from trigner.errors import InputError
from trigner.evaluation.matching import matched
from trigner.mentions import Document

BINS = 15


@dataclass(frozen=True, slots=True)
class Predictions:
    """Scores in [0, 1] and whether each prediction was right; of equal length."""

    scores: Sequence[float]
    right: Sequence[bool]


@dataclass(frozen=True, slots=True)
class Calibration:
    """A temperature that logits are divided by, and the calibration error without and with it."""

    temperature: float
    predictions: int
    error_before: float
    error_after: float


def predictions(gold: Iterable[Document], predicted: Iterable[Document]) -> dict[str, Predictions]:
    """The predictions of each label, right as in `evaluation.score`; of equal ones the surest.

    Raises InputError for a prediction without a score, and as `evaluation.score` does.
    """
    return predictions_of(matched(gold, predicted))


def predictions_of(
    pairs: Iterable[tuple[Document, Document | None]],
) -> dict[str, Predictions]:
    """`predictions` of gold documents, each with the one that answers it, if any does."""
    found: dict[str, list[tuple[float, bool]]] = {}
    for own, answer in pairs:
        if answer is None:
            continue
        keys = {own.key(entity) for entity in own.entities}
        best: dict[Any, float] = {}
        for entity in answer.entities:
            if entity.score is None:
                raise InputError(f"an entity of {answer.id!r} has no score")
            key = own.key(entity)
            best[key] = max(entity.score, best.get(key, 0.0))
        for key, score in best.items():
            found.setdefault(key[0], []).append((score, key in keys))
    return {
        label: Predictions([score for score, _ in own], [right for _, right in own])
        for label, own in found.items()
    }


def together(by_label: Iterable[Predictions]) -> Predictions:
    """The predictions of several labels as one."""
    several = list(by_label)
    return Predictions(
        [score for own in several for score in own.scores],
        [right for own in several for right in own.right],
    )


def calibration_error(predictions: Predictions, bins: int = BINS) -> float:
    """Expected calibration error (Naeini et al., 2015): `|mean score - share right|` in bins of
    equal width, weighted by their predictions. 0 without predictions."""
    scores, right = _arrays(predictions)
    if not len(scores):
        return 0.0
    bin_of = np.minimum((scores * bins).astype(np.int64), bins - 1)
    summed = np.bincount(bin_of, weights=scores - right, minlength=bins)
    return float(np.abs(summed).sum() / len(scores))


def log_loss(predictions: Predictions) -> float:
    """Mean negative log likelihood of right and wrong under the scores; infinite without any."""
    scores, right = _arrays(predictions)
    if not len(scores):
        return math.inf
    scores = np.clip(scores, 1e-6, 1 - 1e-6)
    return float(-np.mean(np.where(right > 0, np.log(scores), np.log1p(-scores))))


def best_temperature(by_temperature: Mapping[float, Predictions]) -> Calibration:
    """The temperature with the least log loss, held against temperature 1, which must be among
    them. Without right and wrong predictions both there is nothing to learn: it stays 1."""
    plain = by_temperature[1.0]
    chosen = 1.0
    if len(set(plain.right)) == 2:
        chosen = min(by_temperature, key=lambda t: (log_loss(by_temperature[t]), abs(t - 1)))
    return Calibration(
        temperature=chosen,
        predictions=len(plain.scores),
        error_before=calibration_error(plain),
        error_after=calibration_error(by_temperature[chosen]),
    )


def _arrays(predictions: Predictions) -> tuple[Floats, Floats]:
    scores = np.asarray(predictions.scores, dtype=np.float64)
    return scores, np.asarray(predictions.right, dtype=np.float64)
