"""On a GPU: the forward pass and training steps beside the bare encoder's, words to mentions."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import torch
from torch import Tensor

from speed import made_up
from speed.figures import Figure, Section, Tell, in_turns, ratios, spread, told_ratio
from speed.forward import run_bare
from speed.step import bare_loss, updater
from trigner.families.core.word_network import batch_tensors
from trigner.families.tagging.model import Model
from trigner.families.tagging.system import TagSystem
from trigner.families.tagging.torch_runtime import torch_predictor
from trigner.mentions import Sentence
from trigner.pipeline.extraction import Extractor
from trigner.training.devices import deterministic
from trigner.training.settings import resolve

TITLE = "On a GPU"
OURS, BARE = "ours", "bare encoder"
PRECISIONS = {"float32": None, "bfloat16": torch.bfloat16}


def measure(
    encoder: str,
    corpus: Path | None,
    *,
    sentences: int,
    size: int,
    rounds: int,
    tell: Tell,
    device: str = "cuda",
) -> Section:
    """The forward pass, training steps with and without determinism, words to mentions.

    Raises SystemExit where the device is not there.
    """
    gpu = torch.device(device)
    if gpu.type == "cuda" and not torch.cuda.is_available():
        raise SystemExit("the section gpu needs a GPU that CUDA can use")
    # cuBLAS reads it once, so that all that is measured here has it.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    chosen, source = made_up.sample_sentences(corpus, sentences)
    section = Section(
        TITLE,
        notes=[
            f"{_named(gpu)}; {source}. The forward pass is of batches as extraction makes them, a "
            f"training step of {size} made-up sentences as long as these, with `best`'s network "
            "and loss, clipping and AdamW. Batches are on the GPU beforehand; float32 lets cuDNN's "
            "BiLSTM round to TF32, as PyTorch does by default. Both sides take turns.",
        ],
    )
    model = made_up.model(encoder)
    model.tagger.to(gpu)
    for name, dtype in PRECISIONS.items():
        tell(f"forward pass on the GPU, {name}")
        section.figures.append(_forward(model, chosen, name, _autocast(gpu, dtype), rounds, gpu))
    section.figures.append(_extraction(model, chosen, rounds, gpu))
    for name, dtype in PRECISIONS.items():
        for switched in (False, True):
            tell(f"training step on the GPU, {name}")
            with deterministic(1, gpu, wanted=switched):
                autocast = _autocast(gpu, dtype)
                own = name + (", deterministic" if switched else "")
                section.figures.append(_steps(model, chosen, own, autocast, size, rounds, gpu))
    return section


def _named(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)


def _autocast(
    device: torch.device, dtype: torch.dtype | None
) -> Callable[[], AbstractContextManager[object]]:
    """What a pass runs in: nothing, or lower precision as the Trainer has it."""
    return nullcontext if dtype is None else lambda: torch.autocast(device.type, dtype)


def _waited(work: Callable[[], object], device: torch.device) -> Callable[[], None]:
    """The work, and the GPU's end of it."""

    def waited() -> None:
        work()
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    return waited


def _ratio(
    what: str, ours: Callable[[], object], bare: Callable[[], object], count: int, rounds: int
) -> Figure:
    taken = in_turns({OURS: ours, BARE: bare}, rounds)
    each = {name: spread([t / count for t in own]).milliseconds() for name, own in taken.items()}
    note = f"{each[OURS]} to {each[BARE]} a batch, {count} batches"
    return told_ratio(f"{what}: ours to the bare encoder", ratios(taken[OURS], taken[BARE]), note)


def _forward(
    model: Model,
    chosen: Sequence[Sentence],
    name: str,
    autocast: Callable[[], AbstractContextManager[object]],
    rounds: int,
    device: torch.device,
) -> Figure:
    tagger = model.tagger.eval()
    batches = [batch_tensors(b, device) for b in made_up.extraction_batches(model, chosen)]

    def over(forward: Callable[[dict[str, Tensor]], object]) -> Callable[[], None]:
        def work() -> None:
            with torch.inference_mode(), autocast():
                for batch in batches:
                    forward(batch)

        return _waited(work, device)

    bare = over(lambda batch: run_bare(tagger.encoder.model, batch))
    ours = over(lambda batch: tagger(**batch))
    return _ratio(f"forward pass, {name}", ours, bare, len(batches), rounds)


def _steps(
    model: Model,
    chosen: Sequence[Sentence],
    name: str,
    autocast: Callable[[], AbstractContextManager[object]],
    size: int,
    rounds: int,
    device: torch.device,
) -> Figure:
    lengths = [max(2, len(sentence.words)) for sentence in chosen]
    examples = made_up.examples(model, made_up.sentences(lengths, 9, mentions=2))
    system = TagSystem(model, resolve(preset="best"))
    made = [system.collate(examples[at : at + size]) for at in range(0, len(examples), size)]
    batches = [{name: own.to(device) for name, own in batch.items()} for batch in made]
    system.objective.to(device).train()

    def over(
        parameters: Sequence[torch.nn.Parameter], loss: Callable[[dict[str, Tensor]], Tensor]
    ) -> Callable[[], None]:
        update = updater(parameters)

        def work() -> None:
            for batch in batches:
                with autocast():
                    own = loss(batch)
                update(own)

        return _waited(work, device)

    encoder = model.tagger.encoder.model
    bare = over(list(encoder.parameters()), lambda batch: bare_loss(encoder, batch))
    ours = over(
        list(model.tagger.parameters()), lambda batch: system.loss(weights={}, **batch).total
    )
    return _ratio(f"training step, {name}", ours, bare, len(batches), rounds)


def _extraction(
    model: Model, chosen: Sequence[Sentence], rounds: int, device: torch.device
) -> Figure:
    """Subwords, batches, forward pass and decoding."""
    extractor = Extractor(torch_predictor(model, device), model.scheme.name)
    taken = in_turns({"": lambda: extractor.predictions(chosen)}, rounds)[""]
    rate = spread([len(chosen) / t for t in taken])
    return Figure(
        "words to mentions, float32",
        f"{rate.median:.0f} sentences a second ({rate.low:.0f} to {rate.high:.0f})",
        value=rate.median,
    )
