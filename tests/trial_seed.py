"""What trials choose at random: anew in each round of `make soak`, alike in all tests."""

from __future__ import annotations

import os
from random import Random

NAME = "TRIALS_SEED"


def seed(otherwise: int) -> int:
    """The seed that `make soak` sets, else that of the tests."""
    return int(os.environ.get(NAME, otherwise))


def chosen(otherwise: int) -> Random:
    """Random moments and inputs of a trial."""
    return Random(seed(otherwise))
