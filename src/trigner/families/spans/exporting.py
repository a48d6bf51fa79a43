"""From a trained span model to a folder that runs without PyTorch.

The graph gives what `RawScores` holds: the best spans are chosen in it, mentions are read from its
scores as from PyTorch's.
"""

from __future__ import annotations

from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
from torch import Tensor, nn

from trigner.batches import Batch, EncoderInputs
from trigner.families.spans.loading import load_model
from trigner.families.spans.network import SpanNetwork
from trigner.families.spans.onnx_runtime import OUTPUTS, onnx_scorer
from trigner.families.spans.predictor import RawScores
from trigner.families.spans.settings import kept_of
from trigner.families.spans.torch_runtime import torch_scorer
from trigner.families.tagging import (
    check_export,
    graph_of,
    probes,
    run_on_cpu,
    share_of_largest,
    with_onnx_layers,
    write_graph,
)
from trigner.mentions import Sentence
from trigner.models import read_description


def export(folder: Path, out: Path, *, int8: bool = False, overwrite: bool = True) -> Path:
    """As `families.tagging.exporting.export` does for tag schemes."""
    check_export(out)
    description = read_description(folder)
    network, tokenizer, inputs = load_model(folder, description)
    batch = probes(inputs)
    graph = graph_of(ExportedSpans(network), traced_batch(inputs, network.kept), OUTPUTS)
    expected = torch_scorer(network)(batch)
    difference = partial(largest_difference, expected, batch)
    return write_graph(
        out, description, graph, difference, (inputs, tokenizer), int8=int8, overwrite=overwrite
    )


def traced_batch(inputs: EncoderInputs, share: float) -> Batch:
    """What the graph is made from: several spans of its longest sentence are kept.

    Where one is, the exporter takes that number for a constant. If no sentence that the encoder
    holds is long enough for two, it is one. `share` is that of `kept_of`.
    """
    batch = probes(inputs)
    if kept_of(int(batch.lengths.max()), share) > 1:
        return batch
    words = next(n for n in count(1) if kept_of(n, share) > 1)
    sentences = [
        Sentence("trace", n, ("and",) * length, ()) for n, length in enumerate((words, words - 1))
    ]
    return inputs.collate(inputs.prepare(sentences).inputs)


class ExportedSpans(nn.Module):
    """The outputs of a span network that predicting needs, from operators that ONNX has."""

    def __init__(self, network: SpanNetwork) -> None:
        super().__init__()
        self.network = with_onnx_layers(network)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, word_subwords: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        output = self.network(input_ids, attention_mask, word_subwords, lengths)
        return output.fragments, output.kept, output.relations


def largest_difference(expected: RawScores, batch: Batch, graph: bytes) -> float:
    """Largest difference of a batch's scores between PyTorch and ONNX Runtime on the CPU.

    It is a share of the largest score where that is above 1. Relations are compared where both keep
    the same spans: with an encoder in 8 bits they need not.
    """
    found = run_on_cpu(onnx_scorer, graph, batch)
    pairs = []
    for row, length in enumerate(batch.lengths.tolist()):
        one, other = expected.of(row, length), found.of(row, length)
        pairs.append((one.fragments, other.fragments))
        if np.array_equal(one.kept, other.kept):
            pairs.append((one.relations, other.relations))
    return share_of_largest(pairs)
