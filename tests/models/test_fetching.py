from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import trigner
from hub_stub import TOKEN, hub  # noqa: F401
from trigner.errors import InputError, TrignerError
from trigner.models.fetching import fetch
from trigner.models.folder import BUNDLED, CARD

TEXT = "my left leg hurt. no pain in arm, numb after the tablet."


@pytest.fixture
def held(hub, exported_model):  # noqa: F811
    """The hub with the exported model and files that are none of it."""
    hub.put("ann/adr", exported_model)
    hub.repositories["ann/adr"] |= {"pytorch_model.bin": b"pickle", "modeling.py": b"raise"}
    return hub


def test_a_folder_is_itself(tmp_path, monkeypatch):
    assert fetch(tmp_path) == tmp_path
    (tmp_path / "ann" / "adr").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert fetch("ann/adr") == Path("ann/adr")


@pytest.mark.parametrize("path", ["/absent", "./ann/adr", "../ann/adr", "a/b/c", "adr", "a b/c"])
def test_what_is_no_name_on_the_hub_is_a_path(held, path, refused):
    with refused():
        fetch(path)
    with refused():
        fetch(path, revision="main")
    with refused():
        fetch("")


@pytest.mark.parametrize("name", ["x" * 300, "./" + "x" * 300, "ann/" + "x" * 300])
def test_a_name_that_is_too_long_is_told(held, name, refused):
    with refused():
        trigner.load(name)


def test_paths_never_ask_the_hub(held, tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    with refused():
        fetch(Path("ann/adr"))
    (tmp_path / "ann").mkdir()  # so that ann/adr is a folder in it, which is missing
    with refused():
        trigner.load("ann/adr")
    assert not held.fetched


def test_the_bundled_model_has_a_name(tmp_path, monkeypatch, refused):
    assert fetch("bundled") == BUNDLED
    monkeypatch.chdir(tmp_path)
    with refused():
        fetch(Path("bundled"))
    assert trigner.load("bundled").labels == trigner.load().labels


def test_only_the_files_of_the_model_are_fetched(held, exported_model):
    found = trigner.load("ann/adr")(TEXT)
    assert sorted(held.fetched) == ["model.onnx", "tokenizer.json", "trigner.json"]
    assert found == trigner.load(exported_model)(TEXT)
    assert found.entities


def test_what_was_fetched_is_there_without_the_hub(held, monkeypatch):
    folder = fetch("ann/adr")
    held.failing = 503
    assert fetch("ann/adr") == folder
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert fetch("ann/adr") == folder


def test_revisions_and_caches(held, tmp_path, refused):
    first = fetch("ann/adr", cache_dir=tmp_path / "mine")
    assert tmp_path / "mine" in first.parents
    before = held.sha("ann/adr")
    assert fetch("ann/adr", revision=before).name == fetch(f"ann/adr@{before}").name == before
    assert fetch("ann/adr@v9", revision=before).name == before
    with refused("adr"):
        fetch("ann/adr@v9")


def test_the_card_is_fetched_with_the_model(held):
    held.repositories["ann/adr"][CARD] = b"# A model"
    assert (fetch("ann/adr") / CARD).read_bytes() == b"# A model"


def test_what_cannot_be_a_name_on_the_hub_has_its_form_told(held, refused):
    with refused():
        fetch("adr")
    with refused():
        fetch("./adr")


def test_private_models_need_a_token(held, refused):
    held.private.add("ann/adr")
    with refused("adr"):
        fetch("ann/adr")
    assert fetch("ann/adr", token=TOKEN).is_dir()


def test_no_such_model(held, refused):
    with refused("adr"):
        fetch("bob/adr")


@pytest.mark.parametrize("change", ["broken", "offline", "away"])
def test_a_hub_that_cannot_be_reached(held, monkeypatch, change, refused):
    if change == "broken":
        held.failing = 400
    elif change == "offline":
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    else:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with refused(error=TrignerError) as e:
        trigner.load("ann/adr")
    assert not isinstance(e.value, InputError)
    assert "\n" not in str(e.value)


@pytest.mark.parametrize(
    "description",
    [
        None,
        b"[]",
        json.dumps({"format": 2}).encode(),
    ],
)
def test_foreign_and_old_models_are_refused_before_their_weights_are_fetched(
    held, description, refused
):
    files = held.repositories["ann/adr"]
    files.pop("trigner.json")
    if description is not None:
        files["trigner.json"] = description
    with refused():
        fetch("ann/adr")
    assert set(held.fetched) <= {"trigner.json"}


def test_incomplete_models_are_refused(held, refused):
    del held.repositories["ann/adr"]["model.onnx"]
    with refused("0000000000000000000000000000000000000001"):
        trigner.load("ann/adr")


def test_a_fresh_process_without_pytorch(held, tmp_path):
    code = f"""
import sys, trigner
document = trigner.load("ann/adr")({TEXT!r})
print(len(document.entities), "torch" in sys.modules)
"""
    clean = {"HF_HUB_OFFLINE": "0", "HF_ENDPOINT": held.address, "HF_HOME": str(tmp_path / "home")}
    source = str(Path(trigner.__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **clean, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    count, torch = run.stdout.split()
    assert int(count) > 0
    assert torch == "False"
