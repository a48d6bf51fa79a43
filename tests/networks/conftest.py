"""One tiny encoder of each kind for all tests of the room; nobody may write into their folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tiny_encoders import KINDS, tiny_encoder


@pytest.fixture(scope="session")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Kind -> folder."""
    root = tmp_path_factory.mktemp("encoders")
    return {kind: tiny_encoder(root / kind, kind, head=False) for kind in KINDS}
