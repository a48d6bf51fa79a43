"""Exported hypergraphs: ONNX Runtime scores, nothing here needs PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trigner.arrays import Booleans, Integers, Logits
from trigner.batches import Batch
from trigner.errors import InputError
from trigner.families.hypergraph.graph import Edge, Graph
from trigner.families.hypergraph.inside import NEVER
from trigner.families.hypergraph.predictor import Scorer
from trigner.families.tagging import check_array, onnx_outputs

OUTPUTS = ("starts", "edges")
"""The graph's outputs: those of `HypergraphNetwork.forward`."""


def onnx_scorer(graph: Path, providers: Sequence[Any], threads: int | None = None) -> Scorer:
    """Scores from a graph. Raises InputError when ONNX Runtime cannot load it."""
    outputs = onnx_outputs(graph, providers, (4, 6), threads)

    def scorer(batch: Batch) -> tuple[Logits, Logits]:
        starts, edges = outputs(batch)
        return starts, edges

    return scorer


def checked_scorer(
    graph: Path, providers: Sequence[Any], threads: int | None, *, types: int, structure: Graph
) -> Scorer:
    """The same for a model of so many entity types with the nodes of `structure`.

    Its scorer raises InputError for scores of other shapes than the batch and the nodes ask for,
    and for an edge where there is none.
    """
    scores = onnx_scorer(graph, providers, threads)

    def scorer(batch: Batch) -> tuple[Logits, Logits]:
        starts, edges = scores(batch)
        check_edges(structure, types, batch, starts, edges, graph)
        return starts, edges

    return scorer


def check_edges(
    structure: Graph, types: int, batch: Batch, starts: Logits, edges: Logits, graph: Path
) -> None:
    """Raises InputError for scores of another shape, and for an edge where there is none."""
    count, length, _ = batch.word_subwords.shape
    check_array(starts, (count, length, types, structure.families), graph)
    shape = (count, *structure.size(length), types, len(structure.rows), len(Edge))
    check_array(edges, shape, graph)
    if ((edges > NEVER / 2) & ~_there(structure, batch.lengths, length)).any():
        raise InputError("gives scores to edges that there are not", path=graph)


def _there(structure: Graph, lengths: Integers, length: int) -> Booleans:
    """Where edges may be in sentences of so many words that are padded to `length`.

    `[B, G, D, 1, R, 5]`, as `HypergraphNetwork` has them: the end anywhere, what leads on to
    another word only where there is one.
    """
    graphs, places = (np.arange(size) for size in structure.size(length))
    word = graphs[:, None] + places
    leads_on = word + 1 < lengths[:, None, None]
    if structure.remembers_start:
        leads_on &= places + 1 < len(places)
    ends = np.arange(len(Edge)) == Edge.END
    there: Booleans = structure.allowed & (ends | leads_on[..., None, None, None])
    return there
