"""On a GPU: ours beside the bare encoder, on batches of new shapes and of shapes seen before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from speed import made_up
from speed.figures import Figure, Section, Tell, in_turns, ratios, seconds, spread, told, told_ratio
from speed.forward import run_bare
from speed.step import bare_loss, updater
from trigner.batches import Batch
from trigner.inference import Extractor
from trigner.mentions import Sentence
from trigner.networks import Model
from trigner.tagging import TagPredictor
from trigner.tagging.system import TagSystem
from trigner.training import resolve
from trigner.training.devices import deterministic

OURS, BARE = "ours", "bare encoder"
PRECISIONS = {"float32": None, "bfloat16": torch.bfloat16}
Batches = Sequence[dict[str, Tensor]]


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
    """The forward pass, training steps with and without determinism, words to mentions."""
    gpu = torch.device(device)
    chosen, source = made_up.sample_sentences(corpus, sentences)
    section = Section(
        "On a GPU",
        notes=[
            f"{_named(gpu)}; {source}. The forward pass is of batches as extraction makes them, a "
            f"training step of {size} made-up sentences as long as these, with `best`'s network "
            "and loss, clipping and AdamW. Both sides take turns. The first pass of each over the "
            "batches, nearly all of which have a shape of their own, is told apart.",
        ],
    )
    model = made_up.model(encoder)
    model.tagger.to(gpu)
    for name, dtype in PRECISIONS.items():
        tell(f"forward pass on the GPU, {name}")
        section.figures.extend(_forward(model, chosen, name, _autocast(gpu, dtype), rounds, gpu))
    section.figures.append(_extraction(model, chosen, rounds, gpu))
    for name, dtype in PRECISIONS.items():
        for switched in (False, True):
            tell(f"training step on the GPU, {name}")
            with deterministic(1, gpu, wanted=switched):
                autocast = _autocast(gpu, dtype)
                own = f"{name}, as trained" if switched else f"{name}, without determinism"
                section.figures.extend(_steps(model, chosen, own, autocast, size, rounds, gpu))
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


def _figures(
    what: str, ours: Callable[[], object], bare: Callable[[], object], count: int, rounds: int
) -> list[Figure]:
    """Both sides' first pass over all batches, then milliseconds a batch and the ratio."""
    first = {name: seconds(work) for name, work in ((OURS, ours), (BARE, bare))}
    taken = in_turns({OURS: ours, BARE: bare}, rounds)
    each = {name: spread([t / count for t in own]) for name, own in taken.items()}
    return [
        told_ratio(
            f"{what}: ours to the bare encoder",
            ratios(taken[OURS], taken[BARE]),
            f"{each[OURS].milliseconds()} to {each[BARE].milliseconds()} a batch, {count} batches",
        ),
        told(
            f"{what}: the first pass, a batch",
            spread([first[OURS] / count]),
            f"bare encoder {1e3 * first[BARE] / count:.1f} ms; the start of libraries is in both",
        ),
    ]


def _forward(
    model: Model,
    chosen: Sequence[Sentence],
    name: str,
    autocast: Callable[[], AbstractContextManager[object]],
    rounds: int,
    device: torch.device,
) -> list[Figure]:
    tagger = model.tagger.eval()
    batches = [_on(device, made_up.inputs(b)) for b in made_up.extraction_batches(model, chosen)]

    def over(forward: Callable[[dict[str, Tensor]], object]) -> Callable[[], None]:
        def work() -> None:
            with torch.inference_mode(), autocast():
                for batch in batches:
                    forward(batch)

        return _waited(work, device)

    bare = over(lambda batch: run_bare(tagger.encoder.model, batch))
    ours = over(lambda batch: tagger(**batch))
    return _figures(f"forward pass, {name}", ours, bare, len(batches), rounds)


def _steps(
    model: Model,
    chosen: Sequence[Sentence],
    name: str,
    autocast: Callable[[], AbstractContextManager[object]],
    size: int,
    rounds: int,
    device: torch.device,
) -> list[Figure]:
    lengths = [max(2, len(sentence.words)) for sentence in chosen]
    examples = made_up.examples(model, made_up.sentences(lengths, 9, mentions=2))
    system = TagSystem(model, resolve(preset="best"))
    made = [system.collate(examples[at : at + size]) for at in range(0, len(examples), size)]
    batches = [_on(device, batch) for batch in made]
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
    return _figures(f"training step, {name}", ours, bare, len(batches), rounds)


def _extraction(
    model: Model, chosen: Sequence[Sentence], rounds: int, device: torch.device
) -> Figure:
    """Subwords, batches, forward pass and decoding."""
    tagger = model.tagger.eval()

    @torch.inference_mode()
    def scorer(batch: Batch) -> np.ndarray:
        return tagger(**_on(device, made_up.inputs(batch))).logits.cpu().numpy()

    extractor = Extractor(TagPredictor(scorer, model.scheme, inputs=model.inputs), "w2ner")
    taken = in_turns({"": lambda: extractor.predictions(chosen)}, rounds)[""]
    rate = spread([len(chosen) / t for t in taken])
    return Figure(
        "words to mentions, float32",
        f"{rate.median:.0f} sentences a second ({rate.low:.0f} to {rate.high:.0f})",
        value=rate.median,
    )


def _on(device: torch.device, batch: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.to(device) for name, value in batch.items()}
