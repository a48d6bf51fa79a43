"""Small trainings give the losses and dev scores that they gave before systems had one seam.

`former_scores.json` was written by the version before (commit 931f69a), one core: of each epoch the
mean training loss and the dev F1. Those of `best`, `bio`, `mac` and `mac_minimal` are younger:
coordination makes other sentences since.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from tiny_encoders import tiny_encoder
from trigner.corpora import read
from trigner.systems.registry import own_systems
from trigner.training.presets import PRESETS
from trigner.training.run import train
from trigner.training.settings import resolve

ROOT = Path(__file__).resolve().parents[2]
FORMER = json.loads((Path(__file__).parent / "former_scores.json").read_text())
SMALL = [
    "optimisation.epochs=3",
    "optimisation.batch_size=4",
    "optimisation.encoder_lr=0.001",
    "optimisation.learning_rate=0.03",
]
STATES = ["model.lstm_size=8"]
PAIRS = [
    "model.distance_size=3",
    "model.region_size=3",
    "model.channels=4",
    "model.pair_size=6",
    "model.grid_size=5",
]
OF_W2NER = [*(own for own in PAIRS if "pair_size" not in own), "model.biaffine_size=5"]
TOE = ["system=toe", "model.toe.heads=2", "model.toe.feed_forward=7", "model.toe.table_size=6"]
MAC = [
    "model.mac.size=12",
    "model.mac.span_size=8",
    "model.mac.span_reach=6",
    "model.mac.length_size=3",
]
CORRECTED = "optimisation.epsilon_to=corrected"  # which the presets of the paper had then
OF_CORPORA = [
    f"paper-{name}{of}" for name in ("cadec", "share13", "share14") for of in ("", "-disc")
]
LINEAR = "model.sequence.layer=none"  # what sequences had then
CASES = {
    "best": ("best", [*STATES, *PAIRS]),
    "clean": ("clean", [*STATES, *PAIRS, "triplets.weight=0.1"]),
    "w2ner": ("w2ner", [*STATES, *OF_W2NER]),
    "paper": ("paper", [*STATES, *PAIRS, CORRECTED]),
    **{name: (name, [*STATES, *PAIRS, CORRECTED]) for name in OF_CORPORA},
    "toe": ("clean", [*STATES, *PAIRS, *TOE]),
    "paper-toe": ("paper-toe", [*STATES, *OF_W2NER, *TOE]),
    "mac": ("best", ["system=mac", *MAC]),
    "mac_minimal": ("best", ["system=mac_minimal", *MAC]),
    "paper-mac": ("paper-mac", [*MAC, "optimisation.max_grad_norm=1e9"]),
    "corro": ("clean", ["system=corro", LINEAR]),
    "biohd": ("clean", ["system=biohd", LINEAR]),
    "biohd1234": (
        "clean",
        ["system=biohd1234", LINEAR, "model.sequence.transitions=true"],
    ),
    "bio": ("best", ["system=bio", *STATES, "model.sequence.layer=bilstm"]),
}


@pytest.mark.parametrize("case", FORMER)
def test_a_small_training_gives_what_it_gave(case, tmp_path):
    documents = read(ROOT / "data" / "mini-adr" / "train").documents
    preset, own = CASES[case]
    encoder = tiny_encoder(tmp_path / "encoder", "bert", head=False)
    settings = resolve(
        preset=preset, assignments=[*SMALL, *own], options={"encoder": str(encoder), "seed": 3}
    )
    trained = train(
        settings,
        documents[:24],
        documents[24:36],
        tmp_path / "model",
        device="cpu",
        console=Console(quiet=True),
    )
    found = [(epoch["eval_train_loss"], epoch["eval_f1"]) for epoch in trained.history]
    assert found == [(pytest.approx(loss, rel=1e-4), f1) for loss, f1 in FORMER[case]]


def test_every_preset_and_every_system_of_then_has_a_case():
    assert set(CASES) == set(FORMER)
    assert {preset for preset, _ in CASES.values()} == set(PRESETS)
    of_presets = {str(PRESETS[preset].get("system", "w2ner")) for preset, _ in CASES.values()}
    since = {"span_grid", "gap_grid", "transition", "spans", "segments", "seq2seq", "hypergraph"}
    since.add("generative")
    assert {*CASES, *of_presets} >= set(own_systems()) - since
