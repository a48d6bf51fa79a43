"""Names of the arrays that travel between rooms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Scores = NDArray[np.floating[Any]]
"""Scores of any precision, as networks give them."""
