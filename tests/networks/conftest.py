"""One tiny encoder of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tiny_encoders import KINDS


@pytest.fixture(scope="session")
def encoders(encoder_of) -> Mapping[str, Path]:
    """Kind -> folder."""
    return {kind: encoder_of(kind) for kind in KINDS}
