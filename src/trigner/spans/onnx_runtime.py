"""Exported span networks: ONNX Runtime scores, nothing here needs PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trigner.batches import Batch
from trigner.spans.predictor import RawScores, Scorer
from trigner.tagging.onnx_runtime import onnx_outputs

OUTPUTS = ("fragments", "kept", "relations")
"""The graph's outputs, as `RawScores` has them."""


def onnx_scorer(graph: Path, providers: Sequence[Any], threads: int | None = None) -> Scorer:
    """Scores from a graph. Raises InputError when ONNX Runtime cannot load it."""
    outputs = onnx_outputs(graph, providers, (4, 2, 4), threads)

    def scorer(batch: Batch) -> RawScores:
        return RawScores(*outputs(batch))

    return scorer
