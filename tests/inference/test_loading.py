from __future__ import annotations

import pytest
import torch

import trigner
from trigner.errors import InputError, TrignerError
from trigner.inference import extractor
from trigner.networks import save


def test_a_saved_model_extracts_the_same(made, tmp_path):
    torch.manual_seed(3)
    model = made("roberta")
    save(model, tmp_path / "model")
    text = "my left leg and right arm hurt after the second tablet"
    before = extractor(model, device="cpu")(text)
    assert before.entities == trigner.load(tmp_path / "model", device="cpu")(text).entities


def test_no_such_model(tmp_path):
    with pytest.raises(InputError, match="no such model folder"):
        trigner.load(tmp_path / "absent")


def test_without_torch_the_cure_is_told(made, tmp_path, monkeypatch):
    save(made(), tmp_path / "model")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(TrignerError, match=r"trigner\[train\]"):
        trigner.load(tmp_path / "model")
