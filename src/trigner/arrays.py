"""The kinds of arrays that signatures name, and what several modules do with them.

Docstrings give shapes in brackets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
SmallIntegers = NDArray[np.signedinteger[Any]]
"""In as little memory as they need, where many arrays are kept."""
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Tags = NDArray[np.integer[Any]]
"""Indices of tags, in as few bytes as they need."""
Logits = NDArray[np.floating[Any]]
"""What a network gives each tag, in any precision."""


def small(integers: NDArray[np.signedinteger[Any]]) -> SmallIntegers:
    """The same in 16 bits each if they fit, otherwise in 32."""
    return integers.astype(np.int16 if np.abs(integers).max(initial=0) < 2**15 else np.int32)


def log_softmax(scores: Logits) -> Logits:
    """Log-probabilities along the last axis, in the precision of the scores; infinite ones stay."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    found: Logits = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return found


def logistic(values: Logits) -> Floats:
    """Log-odds to probabilities, whatever the shape; infinite ones give 0 and 1."""
    found: Floats = 1 / (1 + np.exp(-values.astype(np.float64).clip(-700, 700)))
    return found
