from __future__ import annotations

import pytest

from hub_stub import hub  # noqa: F401
from trigner.encoders.names import check_encoder, encoder_source


def test_short_names_and_folders(tmp_path, monkeypatch):
    assert encoder_source("biobert") == "dmis-lab/biobert-base-cased-v1.2"
    assert encoder_source("own/encoder") == "own/encoder"
    (tmp_path / "biobert").mkdir()
    monkeypatch.chdir(tmp_path)
    assert encoder_source("biobert") == "biobert"
    check_encoder("biobert")


@pytest.mark.parametrize("path", ["./absent", "../absent", "/absent", "runs/absent"])
def test_paths_never_ask_the_hub(hub, tmp_path, monkeypatch, path, refused):  # noqa: F811
    hub.repositories["runs/absent"] = {"config.json": b"{}"}
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path)
    with refused():
        check_encoder(path)
    assert not hub.fetched


def test_names_on_the_hub(hub, refused):  # noqa: F811
    hub.repositories["ann/encoder"] = {"config.json": b"{}"}
    check_encoder("ann/encoder")
    assert hub.fetched == ["config.json"]
    with refused():
        check_encoder("bob/encoder")


def test_a_name_that_is_too_long_for_a_folder(hub, refused):  # noqa: F811
    with refused():
        check_encoder("x" * 300)


@pytest.mark.parametrize("how", ["offline", "away"])
def test_unknown_names_without_a_network(hub, monkeypatch, how, refused):  # noqa: F811
    if how == "offline":
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    else:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with refused():
        check_encoder("bob/encoder")
    with refused() as refused:
        check_encoder("bob/encoder", language_model=True)
    assert str(refused.value).endswith("the local folder of one works, too: --encoder FOLDER")


def test_no_encoder_stands_in_for_a_language_model(hub, refused):  # noqa: F811
    with refused():
        check_encoder("bob/encoder", language_model=True)
