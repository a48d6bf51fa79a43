"""Exported models: ONNX Runtime scores, nothing here needs PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from trigner.batches import Batch, EncoderInputs, SubwordTokenizer
from trigner.errors import InputError
from trigner.model_folder import (
    DESCRIPTION,
    GRAPH,
    TOKENIZER,
    Description,
    Runtime,
    check_files,
    read_tokenizer,
)
from trigner.systems import tagger_spec
from trigner.tagging.predictor import Scorer, TagPredictor

INPUTS = ("input_ids", "attention_mask", "word_subwords", "lengths")
"""The graph's inputs, named as the arrays of `batches.Batch`."""

FORMER_INPUTS = {"piece_ids": "input_ids", "word_pieces": "word_subwords"}
"""What inputs of graphs up to model format 4 are called, and what they are."""


def onnx_predictor(
    folder: Path, description: Description, *, device: str, threads: int | None
) -> TagPredictor:
    """A predictor for a folder that `tagging.exporting` wrote.

    It runs in so many `threads` (None: as many as ONNX Runtime chooses).
    Raises InputError when a file is missing or another model's, and for a device that ONNX Runtime
    does not have.
    """
    inputs = exported_inputs(folder, description)
    return TagPredictor(
        scorer=onnx_scorer(folder / GRAPH, providers(device), threads),
        scheme=tagger_spec(description.system).scheme(description.labels),
        inputs=inputs,
        temperature=description.temperature,
    )


def exported_inputs(folder: Path, description: Description) -> EncoderInputs:
    """How sentences become what an exported graph reads.

    Raises InputError when a file of the folder is missing or another model's.
    """
    check_files(folder, description, (GRAPH, TOKENIZER))
    runtime = cast(Runtime, description.runtime)
    try:
        padding_id = int(description.state["padding_id"])
        subwords = SubwordTokenizer(read_tokenizer(folder), runtime.special_words)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"is damaged: {error!r}", path=folder / DESCRIPTION) from error
    return EncoderInputs(subwords, padding_id, runtime.max_subwords)


def onnx_scorer(graph: Path, providers: Sequence[Any], threads: int | None = None) -> Scorer:
    """Scores from a graph. Raises InputError when ONNX Runtime cannot load it."""
    outputs = onnx_outputs(graph, providers, threads)

    def scorer(batch: Batch) -> NDArray[np.floating[Any]]:
        (logits,) = outputs(batch)
        return logits

    return scorer


def onnx_outputs(
    graph: Path, providers: Sequence[Any], threads: int | None = None
) -> Callable[[Batch], list[NDArray[Any]]]:
    """What gives a graph's outputs. Raises InputError when ONNX Runtime cannot load it."""
    options = onnxruntime.SessionOptions()
    if threads is not None:
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors: what is wrong is raised
    try:
        session = onnxruntime.InferenceSession(str(graph), options, providers=list(providers))
    except Exception as error:  # it has an exception class of its own for each of its codes
        reason = str(error).strip().splitlines()[0]
        raise InputError(
            f"ONNX Runtime {onnxruntime.__version__} cannot load it: {reason}", path=graph
        ) from error

    inputs = {i.name: FORMER_INPUTS.get(i.name, i.name) for i in session.get_inputs()}
    if set(inputs.values()) != set(INPUTS):
        raise InputError(f"does not have a tagger's inputs, but {', '.join(inputs)}", path=graph)

    def outputs(batch: Batch) -> list[NDArray[Any]]:
        found = session.run(None, {name: getattr(batch, own) for name, own in inputs.items()})
        return list(found)

    return outputs


def providers(device: str) -> list[Any]:
    """ONNX Runtime's names for a device. Raises InputError for one that it does not have."""
    name, _, number = device.partition(":")
    cuda, cpu = "CUDAExecutionProvider", "CPUExecutionProvider"
    available = onnxruntime.get_available_providers()
    if name == "cpu" or (device == "auto" and cuda not in available):
        return [cpu]
    if name not in ("auto", "cuda") or (number and not number.isdecimal()):
        raise InputError(f"no device {device!r} for an exported model: cpu, cuda or cuda:1")
    if cuda not in available:
        raise InputError(
            f"no device {device!r}: this ONNX Runtime has {', '.join(available)};"
            " pip install onnxruntime-gpu in place of onnxruntime"
        )
    return [(cuda, {"device_id": number or "0"}), cpu]
