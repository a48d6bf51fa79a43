"""Exported hypergraphs: ONNX Runtime scores, nothing here needs PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trigner.arrays import Logits
from trigner.batches import Batch
from trigner.hypergraph.predictor import Scorer
from trigner.tagging.onnx_runtime import onnx_outputs

OUTPUTS = ("starts", "edges")
"""The graph's outputs: those of `HypergraphNetwork.forward`."""


def onnx_scorer(graph: Path, providers: Sequence[Any], threads: int | None = None) -> Scorer:
    """Scores from a graph. Raises InputError when ONNX Runtime cannot load it."""
    outputs = onnx_outputs(graph, providers, (4, 6), threads)

    def scorer(batch: Batch) -> tuple[Logits, Logits]:
        starts, edges = outputs(batch)
        return starts, edges

    return scorer
