from __future__ import annotations

from typing import get_args

import numpy as np

from trigner import arrays


def test_each_name_is_one_kind_of_number():
    kinds = {
        name: get_args(get_args(getattr(arrays, name))[1])[0]
        for name in ("Integers", "Floats", "Booleans")
    }
    assert kinds == {"Integers": np.int64, "Floats": np.float64, "Booleans": np.bool_}
