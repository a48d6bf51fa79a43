"""Exported models: ONNX Runtime scores, nothing here needs PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from trigner.batches import Batch, SubwordTokenizer
from trigner.errors import InputError
from trigner.inference.extraction import Extractor, Scorer
from trigner.model_folder import (
    DESCRIPTION,
    GRAPH,
    TOKENIZER,
    check_hashes,
    need,
    read_description,
    read_tokenizer,
    scheme_of,
)

INPUTS = ("input_ids", "attention_mask", "word_subwords", "lengths")
"""The graph's inputs, named as the arrays of `batches.Batch`."""

FORMER_INPUTS = {"piece_ids": "input_ids", "word_pieces": "word_subwords"}
"""What inputs of graphs up to model format 4 are called, and what they are."""


def load(folder: Path, *, device: str, batch_size: int, threshold: float) -> Extractor:
    """An extractor for a folder that `inference.export` wrote.

    Raises InputError when a file is missing, foreign or from another version, and for a device
    that ONNX Runtime does not have.
    """
    description = read_description(folder)
    need(folder, (GRAPH, TOKENIZER))
    try:
        scheme = scheme_of(description)
        runtime = description["runtime"]
        special_words = [str(word) for word in runtime["special_words"]]
        max_subwords, padding_id = (
            int(runtime.get("max_subwords") or runtime["max_pieces"]),
            int(description["padding_id"]),
        )
        temperature = float(description["temperature"])
        hashes = {name: str(description["files"][name]) for name in (GRAPH, TOKENIZER)}
    except (InputError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"is damaged: {error!r}", path=folder / DESCRIPTION) from error
    check_hashes(folder, hashes)
    try:
        subwords = SubwordTokenizer(read_tokenizer(folder), special_words)
    except ValueError as error:
        raise InputError(f"is another model's: {error}", path=folder / TOKENIZER) from error
    return Extractor(
        scorer=onnx_scorer(folder / GRAPH, providers(device)),
        scheme=scheme,
        subwords=subwords,
        padding_id=padding_id,
        max_subwords=max_subwords,
        batch_size=batch_size,
        temperature=temperature,
        threshold=threshold,
    )


def onnx_scorer(graph: Path, providers: Sequence[Any]) -> Scorer:
    """Scores from a graph. Raises InputError when ONNX Runtime cannot load it."""
    options = onnxruntime.SessionOptions()
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
        raise InputError(f"has other inputs than a tagger's: {', '.join(inputs)}", path=graph)

    def scorer(batch: Batch) -> NDArray[np.floating[Any]]:
        (logits,) = session.run(None, {name: getattr(batch, own) for name, own in inputs.items()})
        found: NDArray[np.floating[Any]] = logits
        return found

    return scorer


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
