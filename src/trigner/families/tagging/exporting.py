"""From a trained model to a folder that runs without PyTorch.

    model.onnx       scores of any number of sentences of any lengths in one batch
    trigner.json     as of every model, and under `runtime` what the graph needs to be fed
    tokenizer.json   the tokenizer

Nothing is exported that was not seen to score like the model it comes from.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import nn
from torch.export import Dim

from trigner.arrays import Logits
from trigner.batches import Batch, EncoderInputs
from trigner.errors import InputError, TrignerError, first_line, require_extra
from trigner.families.tagging.exported_tagger import LSTM_OPSET, ExportedTagger
from trigner.families.tagging.model import Model, load
from trigner.families.tagging.onnx_runtime import INPUTS, onnx_scorer
from trigner.families.tagging.torch_runtime import torch_scorer
from trigner.mentions import Sentence
from trigner.models import GRAPH, TOKENIZER, Description, Runtime, read_description, save_model

Scored = TypeVar("Scored")

OPSET = LSTM_OPSET
TOLERANCE = 1e-4
"""Largest difference of a logit between PyTorch and an exported fp32 graph, as a share of the
largest logit where that is above 1: float32 has no more digits than these."""

PROBES = (
    ["pain"],
    ["Pain", "and", "cramping", "in", "my", "hands", "and", "lower", "legs", "."],
    ["hydroxychloroquine-induced", "", "QT", "prolongation", *["was", "seen", "again"] * 7],
)
"""Sentences of different lengths, with an empty word and words of many subwords."""


def export(folder: Path, out: Path, *, int8: bool = False, overwrite: bool = True) -> Path:
    """Write the model in `folder` for ONNX Runtime; with `int8` the encoder computes in 8 bits.

    Without `overwrite` a file of its own names that is in `out` by then is left as it is.
    Returns `out`. Raises TrignerError when a package is missing, the graph cannot be made,
    does not score like the model, or cannot be written; InputError when `out` is a file.
    """
    check_export(out)
    model, description = load(folder), read_description(folder)
    return write_graph(
        out,
        description,
        to_onnx(model),
        partial(largest_difference, model),
        (model.inputs, model.tokenizer),
        int8=int8,
        overwrite=overwrite,
    )


def check_export(out: Path) -> None:
    """Raises TrignerError when a package is missing, InputError when `out` is a file."""
    require_extra("export", "onnx", "onnxscript")
    if out.is_file():
        raise InputError("already exists", path=out)


def write_graph(
    out: Path,
    description: Description,
    graph: bytes,
    difference: Callable[[bytes], float],
    inputs: tuple[EncoderInputs, Tokenizer],
    *,
    int8: bool,
    overwrite: bool,
) -> Path:
    """Write a graph as the folder `out`; with `int8` its encoder computes in 8 bits.

    `difference` is the largest of a graph's scores to the model's; above `TOLERANCE` in float32
    TrignerError is raised and nothing written.
    """
    largest = difference(graph)
    if not largest <= TOLERANCE:
        raise TrignerError(
            f"the exported graph's scores differ from the model's by {largest:.2g}:"
            " nothing was written"
        )
    if int8:
        from trigner.families.onnx import to_int8

        graph = to_int8(graph)
        largest = difference(graph)
    encoder, tokenizer = inputs
    subwords = tokenizer.to_str().encode("utf-8")
    runtime = Runtime(
        precision="int8" if int8 else "float32",
        special_words=encoder.tokenizer.special_words,
        max_subwords=encoder.max_subwords,
        difference=largest,
    )
    save_model(
        out,
        description.model_copy(update={"runtime": runtime}),
        {
            GRAPH: lambda path: path.write_bytes(graph),
            TOKENIZER: lambda path: path.write_bytes(subwords),
        },
        overwrite=overwrite,
    )
    return out


def to_onnx(model: Model) -> bytes:
    """The graph of a model's scores. Raises TrignerError when the exporter cannot make it."""
    return graph_of(ExportedTagger(model.tagger), probes(model.inputs), ["logits"])


def graph_of(network: nn.Module, batch: Batch, outputs: Sequence[str]) -> bytes:
    """The graph of a network that takes the arrays of a batch and gives these outputs.

    Raises TrignerError when the exporter cannot make it.
    """
    inputs = {name: torch.from_numpy(getattr(batch, name)) for name in INPUTS}
    dynamic = {name: dict.fromkeys(range(x.dim()), Dim.DYNAMIC) for name, x in inputs.items()}
    try:
        with _quiet(), torch.no_grad():
            program = torch.onnx.export(
                network,
                tuple(inputs.values()),
                dynamo=True,
                dynamic_shapes=dynamic,
                input_names=INPUTS,
                output_names=outputs,
                opset_version=OPSET,
                verbose=False,
            )
    except torch.onnx.errors.OnnxExporterError as error:
        reason = first_line(error.__cause__ or error)
        raise TrignerError(f"this encoder cannot be exported: {reason}") from error
    assert program is not None  # with `dynamo` there is always one
    graph = program.model_proto
    _forget_traces(graph.graph)
    serialized: bytes = graph.SerializeToString()
    return serialized


def _forget_traces(graph: Any) -> None:
    """Drop what the exporter notes about where each node came from.

    It tells the folders of the machine that exported, and is half a megabyte.
    """
    graph.ClearField("metadata_props")
    for part in (*graph.node, *graph.value_info, *graph.input, *graph.output, *graph.initializer):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")


def largest_difference(model: Model, graph: bytes) -> float:
    """Largest difference of a logit in `PROBES` between PyTorch and ONNX Runtime on the CPU, as a
    share of the largest logit where that is above 1."""
    batch = probes(model.inputs)
    expected = torch_scorer(model.tagger)(batch)
    found = run_on_cpu(onnx_scorer, graph, batch)
    axes = model.scheme.tag_space.word_axes
    own = [(i, (slice(n),) * axes) for i, n in enumerate(batch.lengths)]
    return share_of_largest((expected[i][words], found[i][words]) for i, words in own)


def share_of_largest(pairs: Iterable[tuple[Logits, Logits]]) -> float:
    """Largest difference of two runtimes' scores, a share of the first's largest one above 1."""
    largest, differences = 1.0, [0.0]
    for own, found in pairs:
        largest = max(largest, float(np.abs(own).max()))
        differences.append(float(np.abs(own - found).max()))
    return float(np.max(differences)) / largest  # of which one that is not a number is the largest


def run_on_cpu(
    onnx_scorer: Callable[[Path, Sequence[str]], Callable[[Batch], Scored]],
    graph: bytes,
    batch: Batch,
) -> Scored:
    """What ONNX Runtime makes of a batch with a graph, by the system's scorer."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / GRAPH
        path.write_bytes(graph)
        return onnx_scorer(path, ["CPUExecutionProvider"])(batch)


def probes(inputs: EncoderInputs) -> Batch:
    """The sentences of `PROBES` as a batch."""
    sentences = [Sentence("probe", n, tuple(words), ()) for n, words in enumerate(PROBES)]
    return inputs.collate(inputs.prepare(sentences).inputs)


@contextmanager
def _quiet() -> Iterator[None]:
    """None of the exporter's progress and asides; what goes wrong is raised."""
    before: dict[str, Any] = {}
    for name in ("torch.onnx", "onnxscript", "onnx_ir"):
        logger = logging.getLogger(name)
        before[name] = logger.level
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
