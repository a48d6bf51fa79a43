"""Small models of every family, each trained by the command line once in a run of the tests.

One tag scheme stands for all of them: they share everything but the scheme and its network.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from filelock import FileLock
from typer.testing import CliRunner, Result

from tiny_encoders import tiny_encoder
from tiny_language_models import tiny_language_model
from trigner.cli.app import app
from trigner.corpora import write
from trigner.families.tagging.taggers import TaggerSpec
from trigner.mentions import Document, Entity, Fragment
from trigner.systems.registry import systems
from trigner.training.best_epoch import KeepBest

RUN = "TRIGNER_TEST_RUN"
"""Variable of the environment: a folder that all processes of a run share."""

SPANS: dict[str, list[tuple[Fragment, ...]]] = {
    "my left leg and arm hurt. then the pain left.": [
        *(((3, 11), (20, 24)), ((3, 7), (16, 24)), ((35, 39),)),
    ],
    "no tablet then. felt numb after the second tablet.": [((21, 25),)],
}
"""Texts in the tiny encoders' words, and their mentions: what every system learns by heart."""
TEXT = " ".join(SPANS)

SYSTEMS = [n for n, s in systems().items() if n == "w2ner" or not isinstance(s, TaggerSpec)]
IN_CONTEXT = ("w2ner", "spans", "segments", "hypergraph", "transition")
"""Systems that may read the sentences around a sentence."""

SMALL: dict[str, list[str]] = {
    "w2ner": [
        *("model.lstm_size=8", "model.distance_size=3", "model.region_size=3", "model.channels=4"),
        *("model.pair_size=6", "model.grid_size=5"),
    ],
    "transition": ["model.lstm_size=8", "model.hidden_size=8", "model.action_size=4"],
    "hypergraph": ["model.lstm_size=8", "model.hidden_size=8", "model.start_rank=4"],
    "spans": [
        *("model.lstm_size=8", "model.width_size=3", "model.hidden_size=6"),
        "model.output_dropout=0",
    ],
    "segments": [
        *("model.lstm_size=8", "model.width_size=3", "model.hidden_size=6"),
        "model.combination_size=5",
    ],
    "seq2seq": [
        *("model.lstm_size=8", "model.decoder_layers=2", "model.decoder_heads=2"),
        *("model.decoder_feed_forward=12", "model.beam_size=2"),
    ],
    "generative": ["model.lora_rank=4", "model.length_base=12", "model.length_ratio=0"],
}
"""One line a system: settings that make its network small."""


@dataclass(frozen=True)
class Training:
    """A small training: its system, encoder, corpus in two parts, and settings as options.

    In `context` a sentence is read with the words around it.
    """

    system: str
    encoder: Path
    data: Path
    settings: tuple[str, ...]
    context: bool

    def run(self, out: Path, *options: str) -> Result:
        """Train; the last epoch's model is kept, which has seen every update."""

        def keep_always(self, args, state, control, metrics=None, **_):
            self._save(round(state.epoch), metrics)

        arguments = [
            *("train", "--system", self.system, "--encoder", str(self.encoder), "--device", "cpu"),
            *("--train", str(self.data / "train"), "--dev", str(self.data / "dev")),
            *("--out", str(out), *self.settings, *options),
        ]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(KeepBest, "on_evaluate", keep_always)
            return CliRunner().invoke(app, arguments)


@dataclass(frozen=True)
class Trained:
    """A trained model's folder, only to be read, and what its training printed."""

    training: Training
    folder: Path
    printed: str


@cache
def training(system: str, *, context: bool = False) -> Training:
    """The training of a system; with `context` it reads six words around a sentence."""
    folder = Path(os.environ[RUN], "trainings", system)
    folder.mkdir(parents=True, exist_ok=True)
    settings = [*SMALL[system], "optimisation.epochs=12", "optimisation.batch_size=4"]
    settings.append("optimisation.learning_rate=0.02")
    with FileLock(folder / "lock"):
        if not (folder / "data").exists():
            if system == "generative":
                tiny_language_model(folder / "encoder", "llama", positions=8000)
            else:
                tiny_encoder(folder / "encoder", "bert", head=False)
            _write_corpus(folder / "data")
    if system != "generative":
        settings.append("optimisation.encoder_lr=0.005")
    if context:
        settings.append("model.context_words=6")
    options = tuple(part for setting in settings for part in ("--set", setting))
    return Training(system, folder / "encoder", folder / "data", options, context)


@cache
def trained(system: str, *, context: bool = False) -> Trained:
    """The model of that training. Another process of the run may have trained it."""
    of = training(system, context=context)
    folder = of.encoder.parent / ("in-context" if context else "alone")
    with FileLock(folder.with_suffix(".lock")):
        printed = folder.with_suffix(".txt")
        if not printed.exists():
            result = of.run(folder)
            assert result.exit_code == 0, result.output
            printed.write_text(result.output, encoding="utf-8")
    return Trained(of, folder, printed.read_text(encoding="utf-8"))


def _write_corpus(folder: Path) -> None:
    """Both texts fifteen times to train on, and once as dev."""
    for part, copies in {"train": 15, "dev": 1}.items():
        documents = [
            Document(f"{number}{copy}", text, tuple(_entity(text, own) for own in spans))
            for copy in range(copies)
            for number, (text, spans) in enumerate(SPANS.items())
        ]
        write(documents, folder / part, format="brat")


def _entity(text: str, fragments: tuple[Fragment, ...]) -> Entity:
    return Entity("ADR", fragments, " ".join(text[start:end] for start, end in fragments))
