"""A real language model on a real server, where the packages are there."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from local_llm_files import local_llm_weights

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def local_llm():
    """The base URL of SmolLM2 (135 M): its answers are poor, but it is no stub."""
    weights = local_llm_weights("xllamacpp")
    serving = runpy.run_path(str(ROOT / "research/benchmarks" / "local_llm.py"))["serving"]
    with serving(weights) as base_url:
        yield base_url
