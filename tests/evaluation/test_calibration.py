from __future__ import annotations

import math

import pytest

from trigner.evaluation.calibration import (
    Predictions,
    best_temperature,
    calibration_error,
    log_loss,
)


def test_the_error_of_hand_made_predictions():
    # One bin: mean score 0.9, half right. Another: 0.2, none right.
    predictions = Predictions([0.9, 0.9, 0.2, 0.2], [True, False, False, False])
    assert calibration_error(predictions) == pytest.approx(0.5 * 0.4 + 0.5 * 0.2)
    assert calibration_error(Predictions([1.0, 0.0], [True, False])) == 0
    assert calibration_error(Predictions([], [])) == 0


def test_the_loss_of_hand_made_predictions():
    expected = -(math.log(0.8) + math.log(1 - 0.4)) / 2
    assert log_loss(Predictions([0.8, 0.4], [True, False])) == pytest.approx(expected)
    assert math.isfinite(log_loss(Predictions([0.0, 1.0], [True, False])))
    assert log_loss(Predictions([], [])) == math.inf  # the worst, and not a NaN


def test_the_temperature_with_the_least_loss_is_chosen():
    right = [True, True, True, False]
    found = best_temperature(
        {
            0.5: Predictions([1.0, 1.0, 1.0, 1.0], right),
            1.0: Predictions([0.95, 0.95, 0.95, 0.95], right),
            2.0: Predictions([0.75, 0.75, 0.75, 0.75], right),
            4.0: Predictions([0.55, 0.55, 0.55, 0.55], right),
        }
    )
    assert found.temperature == 2.0
    assert found.predictions == 4
    assert found.error_before == pytest.approx(0.2)
    assert found.error_after == pytest.approx(0.0)


@pytest.mark.parametrize("right", [[], [True, True], [False, False]])
def test_with_nothing_to_learn_from_it_stays_1(right):
    surer = Predictions([0.99 if ok else 0.01 for ok in right], right)
    found = best_temperature({0.25: surer, 1.0: Predictions([0.7] * len(right), right)})
    assert found.temperature == 1.0


def test_bins_are_fifteen_of_equal_width_and_1_is_in_the_last():
    apart = Predictions([0.05, 0.07], [True, False])
    assert calibration_error(apart) == pytest.approx((0.95 + 0.07) / 2)
    for scores in ([0.06, 0.065], [0.95, 1.0]):
        together = Predictions(scores, [True, False])
        assert calibration_error(together) == pytest.approx(abs(sum(scores) - 1) / 2)


def test_of_temperatures_that_fit_as_well_the_nearest_to_1_is_chosen():
    alike = Predictions([0.7, 0.7], [True, False])
    assert best_temperature(dict.fromkeys((0.5, 1.0, 4.0), alike)).temperature == 1.0
