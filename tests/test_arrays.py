from __future__ import annotations

import numpy as np
import pytest

from trigner.arrays import small


@pytest.mark.parametrize(
    ("most", "bits"), [(0, 16), (2**15 - 1, 16), (2**15, 32), (-(2**15), 32), (2**31 - 1, 32)]
)
def test_integers_stay_what_they_are(most, bits):
    integers = np.array([-1, most])
    assert (small(integers).tolist(), small(integers).dtype.itemsize) == ([-1, most], bits // 8)
    assert small(integers[:0]).shape == (0,)
