from __future__ import annotations

import numpy as np
import pytest

from oracles.significance_naive import (
    exact_bootstrap,
    exact_randomisation,
    naive_difference,
    share_as_far,
)
from trigner.evaluation.significance import compare_slices

A = [[(1, 2, 2), (0, 1, 1), (1, 1, 2), (0, 0, 0), (2, 3, 3)]]
B = [[(2, 2, 2), (1, 1, 1), (1, 2, 2), (0, 1, 0), (3, 3, 3)]]
SECOND_A = [(0, 2, 2), (1, 1, 1), (1, 1, 2), (0, 0, 0), (1, 3, 3)]
SECOND_B = [(1, 1, 2), (0, 0, 1), (2, 2, 2), (0, 0, 0), (2, 3, 3)]


def arrays(runs):
    return [np.array(run, dtype=np.int64) for run in runs]


def compared(a, b, **options):
    """Both tests where there is one slice."""
    sides = ([{"all": run} for run in side] for side in (a, b))
    return compare_slices(*sides, **options)["all"]


@pytest.mark.parametrize(("a", "b"), [(A, B), ([*A, SECOND_A], [*B, SECOND_B])])
def test_agrees_with_all_resamples_there_are(a, b):
    found = compared(arrays(a), arrays(b), resamples=40_000)
    observed = naive_difference(a, b)
    drawn = exact_bootstrap(a, b)
    assert found.difference == pytest.approx(observed)
    assert found.seeds == len(a)
    assert found.sentences == 5
    exact = share_as_far([d - observed for d in drawn], observed)
    assert found.p_bootstrap == pytest.approx(exact, abs=0.01)
    swapped = share_as_far(exact_randomisation(a, b), observed)
    assert found.p_randomisation == pytest.approx(swapped, abs=0.01)
    low, high = np.percentile(drawn, [2.5, 97.5])
    assert (found.low, found.high) == (pytest.approx(low, abs=0.03), pytest.approx(high, abs=0.03))


def test_a_slice_has_the_values_that_it_has_alone():
    runs = (
        [{"all": x, "few": y} for x, y in zip(*own, strict=True)]
        for own in (
            (arrays([*A, SECOND_A]), arrays([SECOND_B, *A])),
            (arrays([*B, SECOND_B]), arrays([SECOND_A, *B])),
        )
    )
    a, b = runs
    found = compare_slices(a, b, resamples=500)
    assert list(found) == ["all", "few"]
    for name, own in found.items():
        alone = compared([r[name] for r in a], [r[name] for r in b], resamples=500)
        assert own == alone


def test_equal_systems_do_not_differ():
    found = compared(arrays(A), arrays(A), resamples=200)
    assert (found.difference, found.low, found.high) == (0, 0, 0)
    assert found.p_bootstrap == found.p_randomisation == 1


def test_a_large_difference_is_significant_and_turns_with_the_systems():
    right = [[(1, 1, 1)] * 200]
    wrong = [[(0, 1, 1)] * 100 + [(1, 1, 1)] * 100]
    ahead = compared(arrays(wrong), arrays(right), resamples=999)
    behind = compared(arrays(right), arrays(wrong), resamples=999)
    assert ahead.difference == -behind.difference == 0.5
    assert ahead.p_bootstrap == ahead.p_randomisation == 0.001
    assert 0.4 < ahead.low < 0.5 < ahead.high < 0.6


def test_the_same_seed_gives_the_same_values():
    one, same, other = (
        compared(arrays(A), arrays(B), resamples=300, seed=seed) for seed in (1, 1, 2)
    )
    assert one == same != other
    assert one == compared(arrays(A), arrays(B), resamples=300)


def test_sentences_without_mentions_score_0():
    nothing = [[(0, 0, 0)] * 4]
    assert compared(arrays(nothing), arrays(nothing), resamples=10).difference == 0


@pytest.mark.parametrize(("a", "b"), [([], []), (A, [*B, SECOND_B]), (A, [B[0][:3]])])
def test_what_cannot_be_paired_is_refused(a, b, refused):
    with refused(error=ValueError):
        compared(arrays(a), arrays(b))


def test_runs_without_sentences_are_refused(refused):
    nothing = [np.zeros((0, 3), dtype=np.int64)]
    with refused(error=ValueError):
        compared(nothing, nothing)


def test_runs_without_a_slice_are_refused(refused):
    (a,), (b,) = arrays(A), arrays(B)
    with refused(error=ValueError):
        compare_slices([{"all": a, "few": a}], [{"all": b}])
