"""From a trained segment model to a folder that runs without PyTorch.

The graph gives what `RawScores` holds: segments and combinations are read from it as from PyTorch's
scores, by NumPy.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from torch import Tensor, nn

from trigner.batches import Batch
from trigner.families.hypergraph import Graph, share_of_largest_edge
from trigner.families.segments.loading import load_model
from trigner.families.segments.network import SegmentNetwork
from trigner.families.segments.onnx_runtime import OUTPUTS, onnx_scorer
from trigner.families.segments.predictor import RawScores
from trigner.families.segments.torch_runtime import torch_scorer
from trigner.families.tagging import (
    check_export,
    graph_of,
    probes,
    run_on_cpu,
    with_onnx_layers,
    write_graph,
)
from trigner.models import read_description


def export(folder: Path, out: Path, *, int8: bool = False, overwrite: bool = True) -> Path:
    """As `families.tagging.exporting.export` does for tag schemes."""
    check_export(out)
    description = read_description(folder)
    network, tokenizer, inputs = load_model(folder, description)
    batch = probes(inputs)
    graph = graph_of(ExportedSegments(network), batch, OUTPUTS)
    expected = torch_scorer(network)(batch)
    difference = partial(largest_difference, expected, network.graph, batch)
    return write_graph(
        out, description, graph, difference, (inputs, tokenizer), int8=int8, overwrite=overwrite
    )


class ExportedSegments(nn.Module):
    """The outputs of a segment network, from operators that ONNX has."""

    def __init__(self, network: SegmentNetwork) -> None:
        super().__init__()
        self.network = with_onnx_layers(network)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, word_subwords: Tensor, lengths: Tensor
    ) -> tuple[Tensor, ...]:
        output = self.network(input_ids, attention_mask, word_subwords, lengths)
        return output.starts, output.edges, output.parts, output.gaps, output.readout


def largest_difference(expected: RawScores, structure: Graph, batch: Batch, graph: bytes) -> float:
    """Largest difference of a score between PyTorch and ONNX Runtime on the CPU.

    It is a share of the largest score where that is above 1; edges that cannot be do not count.
    """
    found = run_on_cpu(onnx_scorer, graph, batch)
    pairs = []
    for row, length in enumerate(batch.lengths.tolist()):
        one, other = (scores.of(structure, row, length) for scores in (expected, found))
        pairs += [(getattr(one, name), getattr(other, name)) for name in OUTPUTS]
    return share_of_largest_edge(pairs)
