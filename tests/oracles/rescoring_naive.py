"""Rescoring, slow and plain: one candidate, one feature at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from trigner.mentions import ScoredMention
from trigner.schemes import Scheme, TagSpace
from trigner.tagging.rescoring import MOST


def clipped(value: float) -> float:
    return max(-MOST, min(MOST, value))


def tag(logits: np.ndarray, row: int, column: int, leading: int, scheme: Scheme) -> float:
    """Log-odds that a cell above the diagonal has its likeliest tag there and not none."""
    if row < leading or column >= len(logits):
        return -MOST
    own = [float(value) for value in logits[row, column]]
    if scheme.tag_space is TagSpace.EXCLUSIVE_GRID:
        return clipped(max(own[1:]) - own[0])
    lower = {n for g in scheme.groups if g.triangle == "lower" for n in range(g.start, g.stop)}
    return clipped(max(value for n, value in enumerate(own) if n not in lower))


def features(
    logits: np.ndarray, found: Sequence[ScoredMention], leading: int, scheme: Scheme
) -> list[list[float]]:
    rows = []
    for one in found:
        words = one.mention.words
        score = min(one.score, 1 - 1e-9)
        sharing = sum(bool({*words} & {*other.mention.words}) for other in found if other != one)
        rows.append(
            [
                clipped(math.log(score) - math.log(1 - score)),
                float(words[-1] - words[0] + 1 > len(words)),
                math.log(1 + sharing),
                tag(logits, words[0] - 1, words[0], leading, scheme),
                tag(logits, words[-1], words[-1] + 1, leading, scheme),
            ]
        )
    return rows


def fitted(values: np.ndarray, right: np.ndarray, ridge: float) -> tuple[float, np.ndarray]:
    """Ridge logistic regression of standardised features by many small steps downhill."""
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1)
    x = (values - mean) / deviation
    bias, weights = 0.0, np.zeros(x.shape[1])
    rate = 1 / (len(x) + ridge)
    for _ in range(5_000):
        error = 1 / (1 + np.exp(-(bias + x @ weights))) - right
        bias -= rate * float(error.sum())
        weights -= rate * (x.T @ error + ridge * weights)
    return bias - float((weights / deviation) @ mean), weights / deviation


def best_f1(probabilities: Sequence[float], right: Sequence[bool], gold: int) -> float:
    best = 0.0
    for least in probabilities:
        kept = [ok for p, ok in zip(probabilities, right, strict=True) if p >= least]
        best = max(best, 2 * sum(kept) / (len(kept) + gold))
    return best
