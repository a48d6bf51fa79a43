from __future__ import annotations

import pickle

import pytest

from trigner.errors import InputError
from trigner.systems.registry import own_systems
from trigner.training.presets import PRESETS
from trigner.training.settings import resolve


def test_the_order_of_precedence(tmp_path):
    file = tmp_path / "settings.yaml"
    file.write_text("preset: paper-cadec-disc\ntriplets:\n  window: 7\n  margin: 0.5\nseed: 4\n")
    settings = resolve(file=file, assignments=["triplets.margin=0.25"], options={"seed": None})
    assert settings.preset == "paper-cadec-disc"
    assert settings.triplets.unique_pairs is False  # preset over default
    assert settings.triplets.window == 7  # file over preset
    assert settings.triplets.margin == 0.25  # command line over file
    assert settings.seed == 4  # an option that is not given overrides nothing
    assert resolve(file=file, options={"seed": 9}).seed == 9
    assert resolve(file=file, preset="paper").preset == "paper"


@pytest.mark.parametrize(
    "assignment",
    [
        "triplets.windw=3",
        "optimisation.epochs=0",
        "optimisation.epochs",
        "model.dilations=[0]",
        "model.special_words=false",
        "triplets.window=-1",
        "optimisation.learning_rate=inf",
        "triplets.weight=nan",
        "model.output_dropout=nan",
        "triplets.selection=nearest",
        "a.b: [=3",
        "preset=paper",
        "seed=4294967296",
        "model.lstm_size=1e9",
        "optimisation.epochs=many",
        "sampling.conjunctions=[1]",
        "sampling.conjunctions=[and, '']",
        "sampling.conjunctions=[as well as]",
        "model.encoder_layers=1001",
    ],
)
def test_what_makes_no_sense_is_named(assignment, refused):
    with refused():
        resolve(preset="clean", assignments=[assignment])


def test_both_co_predictors_have_pair_states():
    given = ["model.co_predictor=w2ner", "triplets.source=grid"]
    settings = resolve(preset="clean", assignments=given)
    assert settings.triplets.source == "pair_states"


def test_heads_divide_the_states(refused):
    sizes = ["model.lstm_size=516", "model.toe.heads=12"]
    assert resolve(options={"system": "toe"}, assignments=sizes).model.toe.heads == 12
    with refused():
        resolve(options={"system": "toe"}, assignments=sizes[:1])
    assert resolve(assignments=sizes[:1]).model.lstm_size == 516


@pytest.mark.parametrize(
    ("given", "expected"),
    [("none", None), ("None", None), ("null", None), ("0", 0), ("25", 25)],
)
def test_no_window_has_many_names(given, expected):
    assert (
        resolve(preset="clean", assignments=[f"triplets.window={given}"]).triplets.window
        == expected
    )


def test_rates_may_be_written_in_scientific_notation(tmp_path):
    assert resolve(assignments=["optimisation.encoder_lr=5e-6"]).optimisation.encoder_lr == 5e-6
    file = tmp_path / "s.yaml"
    file.write_text("optimisation: {encoder_lr: 2e-5}\n")
    assert resolve(file=file).optimisation.encoder_lr == 2e-5


@pytest.mark.parametrize("alias", ["grid", "H^bi", "pair_states"])
def test_aliases_of_the_source(alias):
    assert (
        resolve(preset="clean", assignments=[f"triplets.source={alias}"]).triplets.source
        == "pair_states"
    )


def test_files_that_are_none(tmp_path, refused):
    bad = tmp_path / "bad.yaml"
    bad.write_text("seed: 1\n  x: [\n")
    with refused():
        resolve(file=bad)
    bad.write_text("- 1\n")
    with refused():
        resolve(file=bad)
    bad.write_bytes(b"\xff\xfe\xff")
    with refused():
        resolve(file=bad)
    with refused():
        resolve(file=tmp_path / "absent.yaml")
    bad.write_text("")
    assert resolve(file=bad) == resolve()


@pytest.mark.parametrize("preset", [None, "w2ner"])
def test_settings_of_triplets_that_a_preset_switches_off_are_refused(preset, refused):
    with refused():
        resolve(preset=preset, assignments=["triplets.window=5"])


def test_triplets_are_chosen_by_their_weight():
    assert resolve(assignments=["triplets.window=5", "triplets.weight=1"]).triplets.window == 5
    assert resolve(preset="clean", assignments=["triplets.window=5"]).triplets.weight == 0.001
    off = ["triplets.window=5", "triplets.weight=0"]
    assert resolve(assignments=off).triplets.window == 5


def test_unknown_preset(refused):
    with refused():
        resolve(preset="papers")


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_preset_is_valid(name):
    assert resolve(preset=name).preset == name


@pytest.mark.parametrize(
    "assignment",
    [
        "optimisation.epoch=5",
        "model.beam_size=3",
        "model.max_width=8",
        "optimization.epochs=5",
        "triplets.zzz=5",
        "optimisation=5",
    ],
)
def test_unknown_settings_are_told_with_what_there_is(assignment, refused):
    with refused():
        resolve(assignments=[assignment])


def test_a_dotted_name_in_a_file_is_told_where_it_belongs(tmp_path, refused):
    path = tmp_path / "own.yaml"
    path.write_text("optimisation.epochs: 5\n")
    with refused("own.yaml"):
        resolve(file=path)


def test_what_a_system_needs_stands_between_defaults_and_preset(refused):
    chosen = resolve(options={"system": "bio"})
    assert (chosen.model.special_words, chosen.triplets) == (False, None)
    own = resolve(options={"system": "bio"}, assignments=["model.special_words=true"])
    assert own.model.special_words
    with refused():
        resolve(options={"system": "bio"}, assignments=["triplets.weight=1"])
    assert resolve().model.special_words
    assert resolve(options={"system": "toe"}).model.dilations == (1, 2)


@pytest.mark.parametrize("system", ["corro", "biohd", "biohd1234", "bio"])
def test_sequences_have_the_bilstm_unless_it_is_left_out(system):
    options = {"system": system}
    assert resolve(options=options).model.sequence.layer == "bilstm"
    without = resolve(options=options, assignments=["model.sequence.layer=none"])
    assert without.model.sequence.layer == "none"
    published = resolve(preset="paper-cadec", options=options)
    assert published.model.sequence.layer == "none"


def test_optional_settings_of_other_systems_are_left_out(refused):
    several = ["model.pair_map=full", "triplets.weight=1", "task.partial_labels=hard"]
    names = [text.partition("=")[0] for text in several]
    found = resolve(options={"system": "corro"}, assignments=several, optional=names)
    assert (found.triplets, found.task.partial_labels) == (None, "hard")
    for text in several[:2]:
        with refused():
            resolve(options={"system": "corro"}, assignments=[text])
    wrong = {"assignments": ["model.pair_mop=full"], "optional": ["model.pair_mop"]}
    with refused():
        resolve(options={"system": "corro"}, **wrong)


@pytest.mark.parametrize("name", own_systems())
def test_a_preset_sets_what_the_system_has(name):
    kind = type(resolve(options={"system": name}))
    for preset in PRESETS:
        sizes = ["model.decoder_heads=12"] if (name, preset) == ("seq2seq", "paper-toe") else []
        found = resolve(preset=preset, options={"system": name}, assignments=sizes)
        assert type(found) is kind
        assert found.system == name


def test_the_identity_holds_the_settings_of_the_system():
    bio = resolve(options={"system": "bio"}).identity()
    assert {"model.sequence.layer", "optimisation.epochs", "seed"} <= bio.keys()
    assert not {"preset", "triplets", "model.channels", "optimisation.bias_init"} & bio.keys()
    w2ner = [resolve(assignments=[f"model.channels={n}"]).identity() for n in (1, 2)]
    assert w2ner[0] != w2ner[1]


def test_another_process_gets_the_same_settings():
    for name in own_systems():
        settings = resolve(options={"system": name}, assignments=["optimisation.epochs=3"])
        assert pickle.loads(pickle.dumps(settings)) == settings


def test_a_file_is_blamed_for_its_own_settings_alone(tmp_path, refused):
    file = tmp_path / "own.yaml"
    file.write_text("optimisation:\n  epochs: 2\n")
    for wrong in ("optimisation.epoch=3", "triplets.window=3", "optimisation.epochs=0"):
        with pytest.raises(InputError) as raised:
            resolve(file=file, assignments=[wrong])
        assert raised.value.path is None
    file.write_text("optimisation:\n  epoch: 2\n")
    with refused("own.yaml"):
        resolve(file=file, assignments=["seed=3"])
    file.write_text("triplets: {window: 3}\n")
    with refused("own.yaml"):
        resolve(file=file)


def test_a_section_without_lines_is_empty(tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text("optimisation:\n#  epochs: 2\n")
    assert resolve(file=file) == resolve()


def test_a_preset_that_yaml_reads_as_something_else(tmp_path, refused):
    file = tmp_path / "own.yaml"
    for written in ("no", "[a]"):
        file.write_text(f"preset: {written}\n")
        with refused("own.yaml"):
            resolve(file=file)
