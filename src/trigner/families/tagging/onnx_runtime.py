"""Exported models: ONNX Runtime scores, nothing here needs PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import onnxruntime
from numpy.typing import NDArray

from trigner.arrays import Logits
from trigner.batches import Batch, EncoderInputs, SubwordTokenizer
from trigner.errors import InputError, first_line
from trigner.families.onnx import check_graph_file
from trigner.families.tagging.graph_checks import (
    AXES,
    check_inputs,
    check_output,
    check_scores,
    scores_of_a_word,
)
from trigner.families.tagging.network_settings import TaggerSettings
from trigner.families.tagging.predictor import Scorer, TagPredictor
from trigner.families.tagging.taggers import tagger_spec
from trigner.machine import threads_for_models
from trigner.models import (
    DESCRIPTION,
    GRAPH,
    TOKENIZER,
    Description,
    Runtime,
    check_files,
    padding_of,
    read_tokenizer,
)

INPUTS = tuple(AXES)
"""The graph's inputs, in their order."""

LARGE = 40_000
"""Word pairs of a batch after which its memory is given back: ONNX Runtime keeps it otherwise, and
asking again costs small batches more than it saves."""

SHRUNK = "cpu:0"


def onnx_predictor(
    folder: Path, description: Description, *, device: str, threads: int | None
) -> TagPredictor:
    """A predictor for a folder that `families.tagging.exporting` wrote.

    It runs in so many `threads` (None: as many as ONNX Runtime chooses).
    Raises InputError when a file is missing or another model's, and for a device that ONNX Runtime
    does not have.
    """
    spec = tagger_spec(description.system)
    settings = cast(TaggerSettings, description.settings(spec.settings, folder))
    leading = settings.leading_words
    inputs = exported_inputs(folder, description, settings.context_words, leading)
    scheme = spec.scheme(description.labels)
    session = _session(folder / GRAPH, providers(device), threads)
    scores = scores_of_a_word(scheme, settings)
    check_output(session, scheme, scores, folder / GRAPH)
    outputs = _outputs(session, folder / GRAPH)

    def scorer(batch: Batch) -> Logits:
        (found,) = outputs(batch)
        check_scores(found, batch, scheme.tag_space.word_axes, scores, folder / GRAPH)
        return found

    return TagPredictor(scorer, scheme, inputs=inputs, temperature=description.temperature)


def exported_inputs(
    folder: Path,
    description: Description,
    context_words: int = 0,
    special_words: tuple[str, ...] = (),
) -> EncoderInputs:
    """How sentences become what an exported graph reads, behind these special words.

    Raises InputError when a file of the folder is missing or another model's.
    """
    check_files(folder, description, (GRAPH, TOKENIZER))
    runtime = cast(Runtime, description.runtime)
    if runtime.special_words != special_words:
        message = f"is damaged: special_words must be {list(special_words)}"
        raise InputError(message, path=folder / DESCRIPTION)
    tokenizer = read_tokenizer(folder)
    try:
        subwords = SubwordTokenizer(tokenizer, runtime.special_words)
    except ValueError as error:
        raise InputError(f"is damaged: {error}", path=folder / DESCRIPTION) from error
    padding_id = padding_of(folder, description, tokenizer)
    return EncoderInputs(subwords, padding_id, runtime.max_subwords, context_words)


def onnx_scorer(graph: Path, providers: Sequence[Any], threads: int | None = None) -> Scorer:
    """Scores from a graph. Raises InputError when ONNX Runtime cannot load it."""
    outputs = _outputs(_session(graph, providers, threads), graph)

    def scorer(batch: Batch) -> Logits:
        (logits,) = outputs(batch)
        return logits

    return scorer


def onnx_outputs(
    graph: Path, providers: Sequence[Any], dimensions: Sequence[int], threads: int | None = None
) -> Callable[[Batch], list[NDArray[Any]]]:
    """What gives a graph's outputs, which have these numbers of dimensions.

    Raises InputError when they have not, and when ONNX Runtime cannot load the graph.
    """
    outputs = _outputs(_session(graph, providers, threads), graph)

    def checked(batch: Batch) -> list[NDArray[Any]]:
        found = outputs(batch)
        if [each.ndim for each in found] != [*dimensions]:
            raise InputError("is the graph of another system: export the model again", path=graph)
        return found

    return checked


def _session(graph: Path, providers: Sequence[Any], threads: int | None) -> Any:
    check_graph_file(graph)
    options = onnxruntime.SessionOptions()
    # By itself it takes a thread for each CPU of the machine, and binds them.
    if (threads := threads or threads_for_models()) is not None:
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
    # It would read a file of its own format, too, which is not the one that is checked.
    options.add_session_config_entry("session.load_model_format", "ONNX")
    options.log_severity_level = 4  # fatal: what is wrong is raised
    # It would keep a block of memory for each shape of a batch, and nearly every batch has its own.
    options.enable_mem_pattern = False
    # Products of 8 bits are exact on processors without VNNI too: by default sums of two overflow.
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        return onnxruntime.InferenceSession(str(graph), options, providers=list(providers))
    except Exception as error:  # it has an exception class of its own for each of its codes
        raise _failure("cannot load it", error, graph) from error


def _outputs(session: Any, graph: Path) -> Callable[[Batch], list[NDArray[Any]]]:
    check_inputs(session, graph)

    def outputs(batch: Batch) -> list[NDArray[Any]]:
        run = onnxruntime.RunOptions()
        run.log_severity_level = 4
        count, length, _ = batch.word_subwords.shape
        if count * length**2 > LARGE:
            run.add_run_config_entry("memory.enable_memory_arena_shrinkage", SHRUNK)
        named = {name: getattr(batch, name) for name in AXES}
        try:
            return list(session.run(None, named, run))
        except Exception as error:
            raise _failure("cannot run it", error, graph) from error

    return outputs


def _failure(what: str, error: Exception, graph: Path) -> InputError:
    runtime = f"ONNX Runtime {onnxruntime.__version__}"
    return InputError(f"{runtime} {what}: {first_line(error)}", path=graph)


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
