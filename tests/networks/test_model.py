from __future__ import annotations

import errno
import json
import os

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from trigner.errors import InputError, TrignerError
from trigner.networks import NetworkSettings, create, load, save

SMALL = NetworkSettings(
    lstm_size=8, distance_size=3, region_size=3, channels=4, pair_size=6, grid_size=5
)


@pytest.fixture(scope="module")
def model(encoders):
    torch.manual_seed(0)
    return create(str(encoders["roberta"]), "w2ner", ("ADR", "Drug"), SMALL)


@pytest.fixture
def folder(model, tmp_path):
    save(model, tmp_path / "model")
    return tmp_path / "model"


def test_a_loaded_model_is_the_saved_one(model, folder):
    again = load(folder)
    before, after = model.tagger.state_dict(), again.tagger.state_dict()
    assert before.keys() == after.keys()
    assert all(before[name].equal(after[name]) for name in before)
    assert (again.scheme, again.network, again.padding_id) == (
        model.scheme,
        model.network,
        model.padding_id,
    )
    words = ["my", "left", "leg"]
    (ours,), (theirs,) = model.word_pieces([words]), again.word_pieces([words])
    assert ours.ids.tolist() == theirs.ids.tolist()
    assert not again.tagger.training


@pytest.mark.parametrize(
    "name", ["trigner.json", "model.safetensors", "tokenizer.json", "encoder/config.json"]
)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(InputError, match=name.replace(".", r"\.")):
        load(folder)


@pytest.mark.parametrize(
    "name", ["trigner.json", "model.safetensors", "tokenizer.json", "encoder/config.json"]
)
def test_a_foreign_file_is_named(folder, name):
    (folder / name).write_text("{}" if name.endswith("json") else "weights")
    with pytest.raises(InputError, match=name.replace(".", r"\.")):
        load(folder)


def test_another_format_version(folder):
    path = folder / "trigner.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 7}))
    with pytest.raises(InputError, match=r"model format 7; this trigner reads 1"):
        load(folder)


def test_weights_that_do_not_fit(folder):
    weights = load_file(folder / "model.safetensors")
    weights.pop(next(iter(weights)))
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(InputError, match="does not fit"):
        load(folder)


def test_no_folder(tmp_path):
    with pytest.raises(InputError, match="no such model folder"):
        load(tmp_path / "absent")


@pytest.mark.parametrize("where", ["write", "rename"])
def test_a_full_disk_leaves_the_old_model_whole(model, folder, monkeypatch, where):
    old = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if where == "write":
        monkeypatch.setattr("trigner.networks.model.save_file", full)
    else:
        monkeypatch.setattr("os.replace", full)
    with pytest.raises(TrignerError, match="cannot save the model"):
        save(model, folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == old


def test_another_encoders_tokenizer_is_refused(folder):
    path = folder / "tokenizer.json"
    own = path.read_text(encoding="utf-8")
    path.write_text(own.replace("[POS]", "[ELSE]"), encoding="utf-8")
    with pytest.raises(InputError, match=r"tokenizer\.json: is another encoder's: it lacks"):
        load(folder)
    larger = Tokenizer.from_str(own)
    larger.add_tokens(["one more"])
    path.write_text(larger.to_str(), encoding="utf-8")
    with pytest.raises(InputError, match=r"tokenizer\.json: is another encoder's: it knows"):
        load(folder)
