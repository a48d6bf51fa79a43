from __future__ import annotations

import pytest
import torch

import trigner
from tiny_encoders import tiny_encoder
from trigner.errors import InputError
from trigner.inference import choose_device, extractor
from trigner.networks import NetworkSettings, create, save

SMALL = NetworkSettings(
    lstm_size=8, distance_size=3, region_size=3, channels=4, pair_size=6, grid_size=5
)


def test_a_saved_model_extracts_the_same(tmp_path):
    torch.manual_seed(3)
    encoder = tiny_encoder(tmp_path / "encoder", "roberta", head=False)
    model = create(str(encoder), "w2ner", ("ADR",), SMALL)
    save(model, tmp_path / "model")
    text = "my left leg and right arm hurt after the second tablet"
    before = extractor(model, device="cpu")(text)
    assert before.entities == trigner.load(tmp_path / "model", device="cpu")(text).entities


def test_devices():
    assert choose_device("cpu").type == "cpu"
    assert choose_device("auto").type in {"cpu", "cuda", "mps"}
    with pytest.raises(InputError, match="no device 'warp'"):
        choose_device("warp")


def test_no_such_model(tmp_path):
    with pytest.raises(InputError, match="no such model folder"):
        trigner.load(tmp_path / "absent")
