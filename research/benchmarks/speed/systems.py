"""The systems of the study `systems`: training, inference, decoding and memory of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from speed import made_up, memory
from speed.figures import Figure, Section, Tell, Work, in_turns, ratios, spread
from speed.forward import run_bare
from speed.step import BARE, bare_loss, updater
from speed.straightforward import Straightforward
from trigner.batches.examples import Example
from trigner.families.core.word_predictor import WordPredictor
from trigner.families.tagging.system import TagSystem
from trigner.lab.studies.declaration import find_study
from trigner.lab.studies.grid import runs
from trigner.lab.studies.protocols import protocol
from trigner.mentions import Mention, Sentence
from trigner.schemes.scheme import Scheme, TagSpace
from trigner.systems.protocols import System
from trigner.training.settings import Settings, resolve

GRID, PLAIN = "trigner-without", "w2ner, straightforward"
WIDE = (32, 43)
"""Sentences and words that fill a batch of extraction; with special words it makes two."""

SLOW = {"generative": 8}
"""System -> it reads every n-th sentence alone, in inference and decoding."""

TEXT = 20
"""Subwords of a text that `generative` writes, at most: fresh weights do not know where to end."""

SURE = 6.0
"""The logit of a tag that is there, as sure as trained models are."""


def measure(
    encoder: str,
    corpus: Path | None,
    *,
    size: int,
    longest: int,
    sentences: int,
    lengths: tuple[int, ...],
    rounds: int,
    tell: Tell,
) -> Section:
    """Words a second of each system in training, inference and decoding; memory."""
    chosen, source = made_up.sample_sentences(corpus, sentences)
    section = Section(
        "Systems",
        notes=[
            "The systems of `trigner study run systems` with fresh weights, one label. All take "
            "turns; in brackets quartiles.",
            "Training: a step on the batch of the training step above, triplets of centroids, each "
            "after one of its own that does not count. "
            f"Inference: forward pass, float32, {source}; batches as extraction makes them. "
            f"`{PLAIN}`: the grid system in the formulation without algebra, on every 4. batch of "
            "up to 40 words, its time as many times that of ours as there.",
            "`generative`: LoRA on a language model of SmolLM2's shape (135 M parameters) with "
            f"random weights; it reads every {SLOW['generative']}. sentence and writes up to "
            f"{TEXT} subwords for each, as many as mini-adr's sentences have on average.",
            "Decoding: one sentence at a time, by length made-up sentences with a mention every 8 "
            "words. Of tag schemes from scores that are sure of its annotations' tags, of the "
            "others from what fresh weights give; where these write or parse, the search is part "
            "of inference, and decoding reads what it found.",
            "Memory: the most that was resident, in a fresh process, above the loaded model: in "
            f"a training step, and in forward passes over {WIDE[0]} sentences of {WIDE[1]} words "
            "in extraction's batches, which are as large as they get.",
        ],
    )
    found = systems()
    made = {name: made_up.system(encoder, settings) for name, settings in found.items()}
    tell(f"training step, {len(found)} systems")
    batch = made_up.cadec_batch(size, longest)
    training = in_turns(_training(made, batch), rounds, warmed=True)
    tell(f"inference, {len(found)} systems")
    works, plain = _inference(encoder, made, chosen)
    inference = in_turns(works, max(3, rounds // 2))
    slow = in_turns(plain, 2)
    for name in training:
        peak = _memory(name, encoder, size, longest, tell) if name in found else ""
        as_long = _words(chosen) / _words(_part(name, chosen))
        whole = [as_long * taken for taken in inference[name]]
        rates = _rate(training[name], _words(batch)), _rate(whole, _words(chosen))
        pairs = (training[name], training[BARE]), (whole, inference[BARE])
        shares = [ratios(*pair).times() for pair in pairs]
        section.figures.append(
            Figure(
                name,
                f"training {rates[0]}, inference {rates[1]} words a second",
                value=spread(whole).median,
                note=f"{shares[0]} and {shares[1]} the encoder's time{peak}",
            )
        )
    slower = ratios(slow[PLAIN], slow[GRID])
    told = f"inference takes {slower.times()} the time of {GRID}"
    section.figures.append(Figure(PLAIN, told, value=slower.median))
    tell(f"decoding, {len(found)} systems")
    section.figures.extend(_decoding(made, chosen, lengths, rounds))
    return section


def systems() -> dict[str, Settings]:
    """Settings of the study's systems, by name, and of `generative`, which is in none."""
    declared = runs(find_study("systems"), protocol("full"))
    texts = (f"model.length_base={TEXT}", "model.length_ratio=0")
    generative = resolve(options={"system": "generative"}, assignments=texts)
    return {run.system: run.settings for run in declared if run.seed == declared[0].seed} | {
        "generative": generative
    }


def training_step(system: System, sentences: Sequence[Sentence]) -> Work:
    """Loss, gradients and update on a batch of these sentences."""
    batch = system.collate(system.prepare(sentences).inputs)
    system.network.train()
    update = updater(system.network.parameters())
    return lambda: update(system.loss({}, **batch).total)


def _training(made: Mapping[str, System], sentences: Sequence[Sentence]) -> dict[str, Work]:
    works = {name: training_step(system, sentences) for name, system in made.items()}
    grid = made[GRID]
    bare = grid.network.get_submodule("encoder.model")
    batch = grid.collate(grid.prepare(sentences).inputs)
    update = updater(bare.parameters())
    return {**works, BARE: lambda: update(bare_loss(bare, batch))}


def _inference(
    encoder: str, made: Mapping[str, System], chosen: Sequence[Sentence]
) -> tuple[dict[str, Work], dict[str, Work]]:
    """The inference of each over its sentences; ours and the straightforward one over some."""
    works = {name: inference(system, _part(name, chosen)) for name, system in made.items()}
    grid = cast(TagSystem, made[GRID])
    batches = _forward_inputs(grid, chosen)
    bare = partial(_bare, grid.network.get_submodule("encoder.model"))
    short = [b for b in batches if b["word_subwords"].shape[1] <= 40][::4]
    plain = Straightforward(made_up.model(encoder, "full").tagger).eval()
    some = {
        GRID: partial(_forward, grid.network, short),
        PLAIN: partial(_forward, plain, short),
    }
    return {**works, BARE: partial(_forward, bare, batches)}, some


def inference(system: System, sentences: Sequence[Sentence]) -> Work:
    """What a system computes of sentences, in extraction's batches, before mentions are read."""
    if isinstance(system, TagSystem):
        return partial(_forward, system.network.eval(), _forward_inputs(system, sentences))
    predictor = cast(WordPredictor[Any], system.predictor("cpu"))
    batches = made_up.batched(system.prepare(sentences).inputs)
    return lambda: [predictor.outputs(batch) for batch in batches]


def _part(name: str, sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    return sentences[:: SLOW.get(name, 1)]


def _forward_inputs(
    system: TagSystem, sentences: Sequence[Sentence]
) -> list[dict[str, torch.Tensor]]:
    batches = made_up.batched(system.prepare(sentences).inputs)
    return [system.tensors(batch) for batch in batches]


def _decoding(
    made: Mapping[str, System],
    chosen: Sequence[Sentence],
    lengths: tuple[int, ...],
    rounds: int,
) -> Iterator[Figure]:
    tagged = (s.model.scheme for s in made.values() if isinstance(s, TagSystem))
    schemes = {scheme.name: scheme for scheme in tagged}
    long = {length: made_up.sentences([length], 9, mentions=length // 8) for length in lengths}
    others = {
        name: cast(WordPredictor[Any], system.predictor("cpu"))
        for name, system in made.items()
        if not isinstance(system, TagSystem)
    }
    taken = [
        in_turns(
            {n: partial(_decode, s, scores(s, own)) for n, s in schemes.items()}
            | {n: partial(_read, p, outputs(p, _part(n, own))) for n, p in others.items()},
            rounds,
        )
        for own in (chosen, *long.values())
    ]
    for name in (*schemes, *others):
        rate = _rate(taken[0][name], _words(_part(name, chosen)))
        growth = [
            f"{length} words {1e3 * spread(times[name]).median:.1f} ms"
            for length, times in zip(lengths, taken[1:], strict=True)
        ]
        yield Figure(
            f"decoding {name}",
            f"{rate} words a second",
            value=spread(taken[0][name]).median,
            note=", ".join(growth),
        )


def scores(scheme: Scheme, sentences: Sequence[Sentence]) -> list[np.ndarray]:
    """For each sentence logits that its annotations' tags would be read from."""
    made = []
    for sentence in sentences:
        own = [Mention(mention.words, scheme.labels[0]) for mention in sentence.mentions]
        tags = scheme.encode(own, len(sentence.words)).tags
        if scheme.tag_space is not TagSpace.MULTI_LABEL_GRID:
            tags = np.eye(len(scheme.tags), dtype=np.int8)[tags]
        made.append(np.where(tags > 0, SURE, -SURE).astype(np.float32))
    return made


def outputs(
    predictor: WordPredictor[Any], sentences: Sequence[Sentence]
) -> list[tuple[Example, Any]]:
    """Inputs with what the network gives for each."""
    return [
        pair
        for batch in made_up.batched(predictor.prepare(sentences).inputs)
        for pair in zip(batch, predictor.outputs(batch), strict=True)
    ]


def _memory(name: str, encoder: str, size: int, longest: int, tell: Tell) -> str:
    tell(f"memory, {name}")
    training, inference = (
        memory.fresh(work=work, side=name, encoder=encoder, size=s, longest=n).growth
        for work, s, n in (("training", size, longest), ("inference", *WIDE))
    )
    return f"; memory {training:,.0f} MB in training, {inference:,.0f} MB in inference"


def one_step(encoder: str, side: str, *, size: int, longest: int) -> Callable[[], object]:
    """A system loaded, ready for two training steps."""
    system = made_up.system(encoder, systems()[side])
    step = training_step(system, made_up.cadec_batch(size, longest))
    return lambda: [step(), step()]


def one_inference(encoder: str, side: str, *, size: int, longest: int) -> Callable[[], object]:
    """A system loaded, ready for inference."""
    system = made_up.system(encoder, systems()[side])
    return inference(system, made_up.sentences([longest] * size, 6))


@torch.inference_mode()
def _forward(network: Callable[..., object], batches: Sequence[Mapping[str, Any]]) -> None:
    for batch in batches:
        network(**batch)


def _bare(encoder: torch.nn.Module, **batch: torch.Tensor) -> object:
    return run_bare(encoder, batch)


def _decode(scheme: Scheme, found: Sequence[np.ndarray]) -> None:
    for one in found:
        scheme.decode(one)


def _read(predictor: WordPredictor[Any], pairs: Sequence[tuple[Example, Any]]) -> None:
    for example, output in pairs:
        # Another object each time: what is computed of it once is part of the work.
        predictor.prediction(example, replace(output), 1.0)


def _words(sentences: Sequence[Sentence]) -> int:
    return sum(len(sentence.words) for sentence in sentences)


def _rate(taken: Sequence[float], words: int) -> str:
    rate = spread([words / t for t in taken])
    return f"{rate.median:,.0f} ({rate.low:,.0f} to {rate.high:,.0f})"
