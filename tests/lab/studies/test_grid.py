from __future__ import annotations

from dataclasses import replace

import pytest

from tiny_encoders import tiny_encoder
from trigner.lab.studies.changes import Changes
from trigner.lab.studies.declaration import find_study
from trigner.lab.studies.grid import encoder_identity, runs
from trigner.lab.studies.protocols import protocol
from trigner.systems.registry import system_spec
from trigner.training.settings import resolve

FULL = protocol("full")
HEAD = "title: a\nseeds: [1]\n"


def labels(made):
    return [(run.system, run.seed) for run in made]


def test_every_system_at_every_point_seed_by_seed(declare):
    study = declare(
        "title: a\nseeds: [3, 4]\nsystems: {on: , off: {triplets.weight: 0}}\n"
        "axes:\n  triplets.margin: [0.5, 1]\n  triplets.unique_pairs: [true]\n"
        "compared: {w2ner: {preset: w2ner}}\n"
    )
    made = runs(study, FULL)
    first = [
        "on, margin=0.5, unique_pairs=true",
        "on, margin=1, unique_pairs=true",
        "off, margin=0.5, unique_pairs=true",
        "off, margin=1, unique_pairs=true",
        "w2ner",
    ]
    assert labels(made) == [(name, seed) for seed in (3, 4) for name in first]
    assert made[0].settings.triplets.margin == 0.5
    assert made[4].settings.model.co_predictor == "w2ner"
    assert made[5].settings.seed == 4


def test_precedence_base_protocol_system_command_line(declare):
    study = declare(
        HEAD + "base: {optimisation.epochs: 3, optimisation.batch_size: 3}\n"
        "systems: {own: {optimisation.epochs: 7}, plain: }\n"
    )
    own, plain = runs(study, protocol("cpu"))
    assert (own.settings.optimisation.epochs, plain.settings.optimisation.epochs) == (7, 10)
    assert plain.settings.optimisation.batch_size == 3
    changed = runs(study, FULL, Changes("x", None, ["optimisation.epochs=1"], (5,), ("own",)))
    assert labels(changed) == [("own", 5)]
    assert changed[0].settings.optimisation.epochs == 1
    assert changed[0].settings.encoder == "x"


def test_what_is_the_same_has_one_identity(declare):
    study = declare(
        HEAD + "systems:\n"
        "  a: {triplets.weight: 0}\n"
        "  b: {triplets.weight: 0, triplets.window: 5, triplets.source: pair_states}\n"
        "  c: {triplets.window: none, triplets.selection: ce, optimisation.cell_budget: 40000}\n"
        "  d: {triplets.window: 0, triplets.selection: grid_centroid}\n"
    )
    a, b, c, d = (run.identity for run in runs(study, FULL))
    assert a == b
    assert c == d
    assert a != c
    assert "preset" not in a


def test_settings_of_other_schemes_are_no_matter_of_w2ner(declare, refused):
    base = "base: {triplets.weight: 0}\n"
    study = declare(
        HEAD + base + "systems: {a: , c: {system: toe}}\naxes: {model.toe.rounds: [2, 3]}\n"
    )
    runs_of = {(run.system, run.point["model.toe.rounds"]): run for run in runs(study, FULL)}
    a, b, c, d = (run.identity for run in runs_of.values())
    assert a == b
    assert len({str(identity) for identity in (a, c, d)}) == 3
    with refused():
        runs(declare(HEAD + base + "systems: {b: {model.toe.rounds: 2}}\n"), FULL)


def test_the_start_at_shares_is_no_matter_of_sequences(declare):
    study = declare(
        HEAD + "systems:\n  a: {system: corro}\n  c: {system: mac}\n"
        "axes: {optimisation.bias_init: [false, true]}\n"
    )
    a, b, c, d = (run.identity for run in runs(study, FULL))
    assert a == b
    assert c != d


def test_an_encoder_is_known_by_what_it_holds_not_by_its_path(tmp_path):
    one = tiny_encoder(tmp_path / "a" / "enc", "bert", head=False)
    two = tiny_encoder(tmp_path / "b" / "enc", "bert", head=False)
    assert encoder_identity(str(one)) == encoder_identity(str(two))
    assert encoder_identity(str(one)).startswith("enc#")
    (two / "config.json").write_text("{}")
    encoder_identity.cache_clear()
    assert encoder_identity(str(one)) != encoder_identity(str(two))
    assert encoder_identity("biobert") == "dmis-lab/biobert-base-cased-v1.2"


def test_adaptation_is_part_of_a_run(declare):
    study = declare(
        HEAD + "base: {adapt: true, adapt.epochs: 3}\nsystems: {with: , without: {adapt: false}}\n"
    )
    changes = Changes(assignments=["adapt.batch_size=2"])
    with_, without = runs(study, FULL, changes)
    assert (with_.adaptation.epochs, with_.adaptation.batch_size) == (3, 2)
    assert without.adaptation is None
    assert with_.identity != without.identity


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("base:\n  triplets.windw: 3\nsystems: {x: }\n", 4),
        ("systems:\n  x:\n    triplets:\n      margin: -1\n", 6),
        ("axes:\n  triplets.selection: [ce, zz]\n", 4),
        ("base: {adapt: true,\n  adapt.epoch: 3}\n", 4),
        ("base: {adapt: true}\nsystems:\n  x: {adapt.epoch: 3}\n", 5),
        ("base: {adapt: true, adapt.x: 3}\n", 3),
        ("base: {adapt: false,\n  adapt.epoch: 3}\n", 4),
        ("base: {adapt: please}\n", 3),
        ("systems:\n  x: {adapt.epochs: 3}\n", 4),
        ("base: {init_from: nowhere}\n", 3),
        ("base: {preset: clea}\n", 3),
        ("systems:\n  x:\n    model.special_words: false\n", 5),
        ("systems: {x: }\nreport:\n  baseline: [x, contrl]\n", 5),
        ("axes:\n  triplets.window: [5, 5]\n", 3),
    ],
)
def test_settings_that_cannot_be_are_refused_with_their_line(declare, text, line, refused):
    study = declare(HEAD + text)
    with refused() as caught:
        runs(study, FULL)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "wrong",
    [
        "triplets.selection: {choices: [ce, zz]}",
        "sampling.empty: {low: -1.0, high: 1.0}",
        "model.embedding_dropout: {low: 0.1, high: 1.5}",
        "optimisation.batch_size: {low: 2.0, high: 8.0}",
        "optimisation.batch_sise: {low: 2, high: 8}",
    ],
)
def test_ranges_are_tried_before_the_search(declare, wrong, refused):
    others = "triplets.window: {choices: [none, 5]}"
    declared = f"search:\n  trials: 1\n  ranges:\n    {others}\n    {wrong}\n"
    with refused() as caught:
        runs(declare(HEAD + declared), FULL)
    assert caught.value.line == 7


def test_ranges_with_steps_are_tried_at_those(declare):
    ranges = "optimisation.batch_size: {low: 2.0, high: 8.0, step: 2.0}"
    study = declare(HEAD + f"search: {{trials: 1, ranges: {{{ranges}}}}}\ncompared: {{x: }}\n")
    assert labels(runs(study, FULL)) == [("x", 1)]
    # What it finds may be chosen before it is found.
    assert runs(study, FULL, Changes(only=("found",))) == []


@pytest.mark.parametrize(
    "changes",
    [
        Changes(only=("windw",)),
        Changes(assignments=["seed=3"]),
        Changes(assignments=["triplets.windw=3"]),
    ],
)
def test_wrong_changes(declare, changes, refused):
    with refused():
        runs(declare(), FULL, changes)


@pytest.mark.parametrize("preset", ["paper-cadec", "w2ner", "best"])
def test_all_families_run_with_every_preset(preset):
    """A preset's settings of word pairs are not those of the other families."""
    made = runs(find_study("systems"), FULL, Changes(preset=preset))
    assert {run.settings.preset for run in made} == {preset}
    for run in made:
        spec = system_spec(run.settings.system)
        assert spec.triplets == (run.settings.triplets is not None)


@pytest.mark.parametrize("name", ["selection", "source", "window", "margin", "pairing"])
def test_the_tables_of_the_paper_run_on_its_own_set_up(name):
    made = runs(find_study(name), FULL, Changes(preset="paper-cadec"))
    trained = [run for run in made if run.system not in ("control", "w2ner")]
    assert trained
    for run in trained:
        assert (run.settings.triplets.weight, run.settings.model.pair_map) == (1.0, "full")
    for run in made:
        assert run.settings.preset == "paper-cadec"
        assert run.system not in ("control", "w2ner") or run.settings.triplets.weight == 0


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("overall", "trigner"),
        ("selection", "selection=centroid"),
        ("systems", "trigner"),
        ("best", "trigner"),
    ],
)
@pytest.mark.parametrize("preset", ["paper-cadec", "paper-share14", None])
def test_w2ner_is_trained_as_what_it_is_compared_with(name, beside, preset):
    """By default it is that of the preset w2ner, which kept runs were made with."""
    changes = Changes(preset=preset, seeds=(1,), only=("w2ner", beside))
    made = {run.system: run for run in runs(find_study(name), FULL, changes)}
    w2ner, trigner = made["w2ner"], made[beside]
    for section in ("encoder", "optimisation", "sampling", "task"):
        assert getattr(w2ner.settings, section) == getattr(trigner.settings, section)
    model = {"co_predictor": "w2ner", "special_words": False}
    assert w2ner.settings.model == trigner.settings.model.model_copy(update=model)
    assert w2ner.settings.triplets.weight == 0
    if preset is None:
        alone = resolve(preset="w2ner", options={"seed": w2ner.seed})
        assert w2ner.identity == replace(w2ner, settings=alone).identity


def test_a_declared_preset_is_not_overridden(refused):
    with refused():
        runs(find_study("paper-cadec"), FULL, Changes(preset="best"))


def test_declared_encoders_are_not_overridden(declare, refused):
    study = declare(HEAD + "axes: {encoder: [a/b, minilm]}\n")
    assert [run.system for run in runs(study, FULL)] == ["encoder=b", "encoder=minilm"]
    with refused():
        runs(study, FULL, Changes(encoder="x"))
