"""Segment systems around a tiny encoder."""

from __future__ import annotations

import pytest
import torch

from trigner.families.segments.system import build
from trigner.training.settings import resolve

SMALL = {"lstm_size": 8, "width_size": 3, "hidden_size": 6, "combination_size": 5}


@pytest.fixture(scope="session")
def make(encoder):
    """A function: a system with some settings other than `SMALL`."""

    def make(*labels, **changes):
        torch.manual_seed(1)
        own = [f"model.{name}={value}" for name, value in {**SMALL, **changes}.items()]
        options = {"system": "segments", "encoder": str(encoder)}
        return build(resolve(options=options, assignments=own), labels or ("ADR", "Drug"))

    return make
