from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from model_changes import accept_files, change_description
from tiny_encoders import KINDS
from tiny_models import save, small_settings
from trigner.batches.collation import collate
from trigner.errors import TrignerError
from trigner.families.tagging.model import create, load
from trigner.families.tagging.network_settings import GridSettings
from trigner.models.folder import read_description

SMALL = GridSettings(
    lstm_size=8,
    distance_size=3,
    region_size=5,
    channels=4,
    pair_size=6,
    grid_size=7,
    biaffine_size=5,
)
FILES = ["encoder/config.json", "model.safetensors", "tokenizer.json", "trigner.json"]
SENTENCES = [["my", "left", "leg", "hurt", "."], ["no", "pain", "in", "arms"]]


def make(encoder, labels=("ADR", "Drug"), seed=1, scheme="w2ner", **changes):
    torch.manual_seed(seed)
    made = create(str(encoder), scheme, labels, small_settings(scheme, **changes))
    return made


def logits(made):
    batch = collate(made.inputs.tokenizer(SENTENCES), padding_id=made.padding_id)
    arrays = (batch.input_ids, batch.attention_mask, batch.word_subwords, batch.lengths)
    with torch.no_grad():
        return made.tagger.eval()(*(torch.from_numpy(array) for array in arrays)).logits


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def written(encoders, tmp_path_factory):
    """A model folder to copy."""
    folder = tmp_path_factory.mktemp("model")
    save(make(encoders["bert"]), folder)
    return folder


@pytest.fixture
def folder(written, tmp_path):
    """One's own to damage."""
    return shutil.copytree(written, tmp_path / "model")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "changes",
    [
        {"scheme": "toe"},
        {"co_predictor": "w2ner", "special_words": False},
        {"pair_map": "full"},
        {"normalised": "column", "dilations": (1, 3)},
        {"pair_map": "low_rank", "empty_word": "batch_minimum", "encoder_layers": 1},
    ],
)
def test_a_model_comes_back_to_the_bit(encoders, tmp_path, kind, changes):
    made = make(encoders[kind], **changes)
    made = replace(made, temperature=1.5)
    save(made, tmp_path / "deep" / "model")
    torch.manual_seed(99)
    found = load(tmp_path / "deep" / "model")
    assert found.scheme == made.scheme
    assert found.settings.model_dump() == made.settings.model_dump()
    assert found.padding_id == made.padding_id
    assert found.temperature == 1.5
    assert found.inputs.offset == made.inputs.offset == (2 if made.settings.special_words else 0)
    assert found.tokenizer.to_str() == made.tokenizer.to_str()
    assert not found.tagger.training
    assert logits(found).equal(logits(made))
    for name, value in made.tagger.state_dict().items():
        assert found.tagger.state_dict()[name].equal(value), name
    save(found, tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "deep" / "model")


def test_the_folder_holds_these_files_and_no_others(folder):
    assert sorted(contents(folder)) == FILES
    description = read_description(folder)
    assert description.format == 1
    assert description.labels == ("ADR", "Drug")
    assert (description.system, description.package) == ("w2ner", "trigner")
    assert sorted(description.files) == FILES[:-1]


def test_loading_needs_no_encoder_no_network_and_says_nothing(folder, capfd, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    load(str(folder))
    assert capfd.readouterr() == ("", "")


def test_special_words_are_fresh_and_travel(folder):
    found = load(folder)
    ids = found.inputs.tokenizer([["my"]])[0].ids.tolist()
    assert ids[1:3] == [found.tokenizer.token_to_id("[POS]"), found.tokenizer.token_to_id("[NEG]")]
    assert max(ids) < found.tagger.encoder.model.get_input_embeddings().num_embeddings


def test_unknown_systems_and_encoders(encoders, tmp_path, refused):
    with refused():
        create(str(encoders["bert"]), "other", ("ADR",), SMALL)
    with refused():
        create(str(tmp_path), "w2ner", ("ADR",), SMALL)


def test_no_such_folder(tmp_path, refused):
    with refused():
        load(tmp_path / "none")


@pytest.mark.parametrize("missing", FILES)
def test_a_missing_file_is_named(folder, missing, refused):
    (folder / missing).unlink()
    with refused():
        load(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"model": {"channels": 0}},
        {"model": {"colour": "red"}},
        {"system": "other"},
        {"state": {"padding_id": "zero"}},
        {"state": {}},
        {"files": {}},
    ],
)
def test_a_damaged_description_is_refused(folder, changes, refused):
    change_description(folder, **changes)
    with refused() as error:
        load(folder)
    assert "is damaged" in str(error.value)
    assert error.value.path == folder / "trigner.json"


def test_weights_of_another_shape_are_refused(folder, refused):
    settings = SMALL.model_copy(update={"channels": 5})
    change_description(folder, model=settings.model_dump(mode="json"))
    with refused():
        load(folder)


def test_one_more_label_is_refused(folder, refused):
    change_description(folder, labels=["ADR", "Drug", "Dose"])
    with refused():
        load(folder)


@pytest.mark.parametrize("extra", [True, False])
def test_missing_and_extra_weights_are_refused(folder, extra, refused):
    path = folder / "model.safetensors"
    weights = load_file(path)
    if extra:
        weights["more"] = torch.zeros(1)
    else:
        del weights["features.reduce.bias"]
    save_file(weights, path)
    accept_files(folder)
    with refused():
        load(folder)


@pytest.mark.parametrize("kept", [0, 5, 200, -1])
def test_damaged_weights_are_refused(folder, kept, refused):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    with refused():
        load(folder)
    accept_files(folder)
    with refused():
        load(folder)


@pytest.mark.parametrize("text", ["", "{}", '{"version": "1.0"', "no tokenizer"])
def test_a_damaged_tokenizer_is_refused(folder, text, refused):
    (folder / "tokenizer.json").write_text(text, "utf-8")
    accept_files(folder)
    with refused():
        load(folder)


def test_a_tokenizer_without_the_special_words_is_refused(folder, encoders, refused):
    plain = make(encoders["bert"], special_words=False).tokenizer
    plain.save(str(folder / "tokenizer.json"))
    accept_files(folder)
    with refused():
        load(folder)


def test_a_tokenizer_of_another_encoder_is_refused(folder, encoders, refused):
    other = make(encoders["roberta"]).tokenizer
    other.save(str(folder / "tokenizer.json"))
    accept_files(folder)
    with refused():
        load(folder)


def test_one_subword_more_is_refused(folder, refused):
    path = folder / "tokenizer.json"
    larger = Tokenizer.from_file(str(path))
    larger.add_tokens(["one more"])
    larger.save(str(path))
    accept_files(folder)
    with refused():
        load(folder)


def test_a_foreign_tokenizer_of_the_same_size_is_refused(folder, refused):
    path = folder / "tokenizer.json"
    text = path.read_text("utf-8")
    path.write_text(text.replace('"my"', '"yours"'), "utf-8")
    assert Tokenizer.from_file(str(path)).token_to_id("yours") is not None
    with refused():
        load(folder)


def test_a_foreign_encoder_configuration_of_the_same_shapes_is_refused(folder, refused):
    path = folder / "encoder" / "config.json"
    config = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**config, "num_attention_heads": 1}), "utf-8")
    with refused():
        load(folder)


@pytest.mark.parametrize(
    "text",
    ["", "[1]", "{}", '{"model_type": "nothing"}', '{"model_type": "bert", "hidden_size": "a"}'],
)
def test_a_damaged_encoder_configuration_is_refused(folder, text, refused):
    (folder / "encoder" / "config.json").write_text(text, "utf-8")
    accept_files(folder)
    with refused():
        load(folder)


def test_a_place_that_cannot_be_written(encoders, tmp_path, refused):
    (tmp_path / "file").write_text("in the way", "utf-8")
    with refused(error=TrignerError):
        save(make(encoders["bert"]), tmp_path / "file")
    assert (tmp_path / "file").read_text("utf-8") == "in the way"


def test_a_model_replaces_another_and_leaves_other_files_alone(encoders, folder):
    (folder / "notes.txt").write_text("mine", "utf-8")
    made = make(encoders["roberta"], labels=("Other",), seed=2)
    save(made, folder)
    assert sorted(contents(folder)) == sorted([*FILES, "notes.txt"])
    assert load(folder).scheme.labels == ("Other",)
    assert logits(load(folder)).equal(logits(made))
