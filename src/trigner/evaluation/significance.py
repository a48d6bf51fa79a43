"""Whether one system is better than another: two paired tests over sentences.

Paired bootstrap: Koehn, Statistical Significance Tests for Machine Translation Evaluation, 2004;
its two-sided p value after Berg-Kirkpatrick et al., 2012. Approximate randomisation: Noreen, 1989.

Systems come with several seeds. What is tested is the mean of their F1 over seeds, and a sentence
is drawn or swapped with all its seeds at once: the p values speak of other sentences, not of other
seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trigner.arrays import Floats, Integers

RESAMPLES = 10_000
_AT_A_TIME = 250  # resamples: their weights of some thousand sentences stay below 10 MB


@dataclass(frozen=True, slots=True)
class Significance:
    """How far system B is ahead of system A in F1, in [-1, 1], and how sure that is.

    `low` and `high` bound the 95 % interval of the bootstrap. Both p values are two-sided: that of
    no difference between the systems. `seeds` pairs of runs and `sentences` were compared.
    """

    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_randomisation: float
    seeds: int
    sentences: int


def compare_slices(
    a: Sequence[Mapping[str, Integers]],
    b: Sequence[Mapping[str, Integers]],
    *,
    resamples: int = RESAMPLES,
    seed: int = 1,
) -> dict[str, Significance]:
    """Both tests for each slice of mentions: counts `[S, 3]` of two systems' runs, one pair a seed.

    The same sentences are drawn for all slices: each has the values that it has alone. Raises
    ValueError when there is no run or no sentence, or runs are not on the same sentences or have
    other slices than the first.
    """
    if not a or len(a) != len(b) or len({len(own) for run in (*a, *b) for own in run.values()}) > 1:
        raise ValueError("both systems need the same number of runs, on the same sentences")
    slices = tuple(a[0])
    if any(set(run) != set(slices) for run in (*a, *b)):
        raise ValueError("all runs need counts of the same slices")
    first, second = (_stacked(side, slices) for side in (a, b))
    if not len(first):
        raise ValueError("the runs have no sentences")
    observed = _f1(second.sum(axis=0)) - _f1(first.sum(axis=0))
    draws = np.random.default_rng(seed)
    drawn, swapped = [], []
    sentences = len(first)
    for start in range(0, resamples, _AT_A_TIME):
        size = min(_AT_A_TIME, resamples - start)
        weights = draws.multinomial(sentences, np.full(sentences, 1 / sentences), size=size)
        drawn.append(_differences(weights.astype(np.float64), first, second))
        swaps = draws.integers(0, 2, size=(size, sentences)).astype(np.float64)
        moved = np.tensordot(swaps, second - first, axes=1)
        swapped.append(_f1(second.sum(axis=0) - moved) - _f1(first.sum(axis=0) + moved))
    bootstrap, randomised = np.concatenate(drawn), np.concatenate(swapped)
    low, high = np.percentile(bootstrap, [2.5, 97.5], axis=0)
    return {
        name: Significance(
            difference=float(observed[i]),
            low=float(low[i]),
            high=float(high[i]),
            p_bootstrap=_p(bootstrap[:, i] - observed[i], observed[i]),
            p_randomisation=_p(randomised[:, i], observed[i]),
            seeds=len(a),
            sentences=sentences,
        )
        for i, name in enumerate(slices)
    }


def _stacked(side: Sequence[Mapping[str, Integers]], slices: Sequence[str]) -> Floats:
    """Counts `[S, slices, seeds, 3]`."""
    of_slices = [np.stack([run[name] for run in side], axis=1) for name in slices]
    return np.stack(of_slices, axis=1).astype(np.float64)


def _differences(weights: Floats, first: Floats, second: Floats) -> Floats:
    """F1 of the second less that of the first when sentence s counts `weights[r, s]` times."""
    difference: Floats = _f1(np.tensordot(weights, second, axes=1)) - _f1(
        np.tensordot(weights, first, axes=1)
    )
    return difference


def _f1(counts: Floats) -> Floats:
    """Mean over seeds of the F1 of counts `[..., seeds, 3]`; an empty denominator scores 0."""
    total = counts[..., 1] + counts[..., 2]
    f1 = np.divide(2 * counts[..., 0], total, out=np.zeros_like(total), where=total > 0)
    mean: Floats = f1.mean(axis=-1)
    return mean


def _p(differences: Floats, observed: float) -> float:
    """Share of resamples at least as far from 0 as what was observed, itself among them."""
    # Sums of the same numbers in another order differ in their last digits.
    extreme = np.abs(differences) >= abs(observed) - 1e-12
    return float((1 + np.count_nonzero(extreme)) / (1 + len(differences)))
