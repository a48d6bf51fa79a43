"""From a trained hypergraph to a folder that runs without PyTorch.

The graph gives the scores of edges; inference and decoding are NumPy's in any case.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np

from trigner.arrays import Logits
from trigner.batches import Batch
from trigner.families.hypergraph.decoding import Chart
from trigner.families.hypergraph.graph import Graph
from trigner.families.hypergraph.inside import NEVER
from trigner.families.hypergraph.loading import load_model
from trigner.families.hypergraph.onnx_runtime import OUTPUTS, onnx_scorer
from trigner.families.hypergraph.predictor import Scorer
from trigner.families.hypergraph.settings import HypergraphSettings
from trigner.families.hypergraph.torch_runtime import torch_scorer
from trigner.families.tagging import (
    check_export,
    graph_of,
    probes,
    run_on_cpu,
    share_of_largest,
    with_onnx_layers,
    write_graph,
)
from trigner.models import read_description


def export(folder: Path, out: Path, *, int8: bool = False, overwrite: bool = True) -> Path:
    """As `families.tagging.exporting.export` does for tag schemes."""
    check_export(out)
    description = read_description(folder)
    settings = description.settings(HypergraphSettings, folder)
    network, tokenizer, inputs = load_model(folder, description, settings)
    batch = probes(inputs)
    graph = graph_of(with_onnx_layers(network), batch, OUTPUTS)
    difference = partial(largest_difference, torch_scorer(network), settings.structure(), batch)
    return write_graph(
        out, description, graph, difference, (inputs, tokenizer), int8=int8, overwrite=overwrite
    )


def largest_difference(scorer: Scorer, structure: Graph, batch: Batch, graph: bytes) -> float:
    """Largest difference of a score between PyTorch and ONNX Runtime on the CPU.

    It is a share of the largest score where that is above 1; edges that cannot be do not count.
    """
    found = run_on_cpu(onnx_scorer, graph, batch)
    expected = scorer(batch)
    pairs = []
    for row, length in enumerate(batch.lengths.tolist()):
        one, other = (
            Chart.of(structure, starts[row], edges[row], length)
            for starts, edges in (expected, found)
        )
        pairs += [(one.starts, other.starts), (one.edges, other.edges)]
    return share_of_largest_edge(pairs)


def share_of_largest_edge(pairs: Iterable[tuple[Logits, Logits]]) -> float:
    """`share_of_largest` of what can be; infinite where the runtimes disagree on that."""
    found = [(own, scores, own > NEVER / 2) for own, scores in pairs]
    if any(((scores > NEVER / 2) != there).any() for _, scores, there in found):
        return float(np.inf)
    return share_of_largest((own[there], scores[there]) for own, scores, there in found)
