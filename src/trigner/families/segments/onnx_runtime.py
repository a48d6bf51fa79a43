"""Exported segment networks: ONNX Runtime scores, nothing here needs PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trigner.batches import Batch
from trigner.families.hypergraph import check_edges
from trigner.families.segments.decoding import GAPS, Role
from trigner.families.segments.predictor import RawScores, Scorer
from trigner.families.segments.settings import SegmentSettings
from trigner.families.tagging import check_array, onnx_outputs

OUTPUTS = ("starts", "edges", "parts", "gaps", "readout")
"""The graph's outputs, as `RawScores` has them."""


def onnx_scorer(graph: Path, providers: Sequence[Any], threads: int | None = None) -> Scorer:
    """Scores from a graph. Raises InputError when ONNX Runtime cannot load it."""
    outputs = onnx_outputs(graph, providers, (4, 6, 5, 3, 3), threads)

    def scorer(batch: Batch) -> RawScores:
        return RawScores(*outputs(batch))

    return scorer


def checked_scorer(
    graph: Path,
    providers: Sequence[Any],
    threads: int | None,
    *,
    types: int,
    settings: SegmentSettings,
) -> Scorer:
    """The same for a model of so many entity types.

    Its scorer raises InputError for scores of other shapes than the batch and the settings ask for,
    and for a segment that is not its sentence's.
    """
    scores = onnx_scorer(graph, providers, threads)
    structure, size = settings.structure(), settings.combination_size

    def scorer(batch: Batch) -> RawScores:
        found = scores(batch)
        check_edges(structure, types, batch, found.starts, found.edges, graph)
        count, length, _ = batch.word_subwords.shape
        check_array(found.parts, (count, *structure.size(length), len(Role), size), graph)
        check_array(found.gaps, (count, GAPS, size), graph)
        check_array(found.readout, (count, size + 1, types), graph)
        return found

    return scorer
