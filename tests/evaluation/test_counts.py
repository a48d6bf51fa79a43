from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.scores_naive import naive_rates
from trigner.evaluation.counts import Score, count


def test_rates_by_hand() -> None:
    score = Score(correct=3, predicted=4, gold=6)
    assert score.precision == 0.75
    assert score.recall == 0.5
    assert score.f1 == pytest.approx(0.6)
    assert score.as_json() == {
        "precision": 0.75,
        "recall": 0.5,
        "f1": pytest.approx(0.6),
        "correct": 3,
        "predicted": 4,
        "gold": 6,
    }


@pytest.mark.parametrize("empty", [Score(0, 0, 0), Score(0, 3, 0), Score(0, 0, 3)])
def test_an_empty_denominator_scores_0(empty: Score) -> None:
    assert (empty.precision, empty.recall, empty.f1) == (0.0, 0.0, 0.0)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_agrees_with_the_definition(correct: int, more_predicted: int, more_gold: int) -> None:
    score = Score(correct, correct + more_predicted, correct + more_gold)
    rates = naive_rates(score.correct, score.predicted, score.gold)
    assert (score.precision, score.recall, score.f1) == pytest.approx(rates)


@pytest.mark.parametrize("bad", [(-1, 0, 0), (2, 1, 3), (2, 3, 1)])
def test_impossible_counts_are_refused(bad: tuple[int, int, int], refused) -> None:
    with refused(error=ValueError):
        Score(*bad)


def test_count_is_of_sets() -> None:
    assert count({1, 2, 3}, {2, 3, 4, 5}) == Score(2, 4, 3)
