from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from trigner import arrays


def test_each_name_is_one_kind_of_number():
    kinds = {
        name: get_args(get_args(getattr(arrays, name))[1])[0]
        for name in ("Integers", "Floats", "Booleans")
    }
    assert kinds == {"Integers": np.int64, "Floats": np.float64, "Booleans": np.bool_}


@pytest.mark.parametrize(
    ("most", "bits"), [(0, 16), (2**15 - 1, 16), (2**15, 32), (-(2**15), 32), (2**31 - 1, 32)]
)
def test_integers_stay_what_they_are(most, bits):
    integers = np.array([-1, most])
    assert (arrays.small(integers).tolist(), arrays.small(integers).dtype.itemsize) == (
        [-1, most],
        bits // 8,
    )
    assert arrays.small(integers[:0]).shape == (0,)


def test_log_odds_become_probabilities():
    odds = np.array([[-np.inf, -800, 0], [np.log(3), 800, np.inf]], dtype=np.float32)
    found = arrays.logistic(odds)
    assert found.dtype == np.float64
    assert found == pytest.approx(np.array([[0, 0, 0.5], [0.75, 1, 1]]), abs=1e-7)
