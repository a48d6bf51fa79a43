"""What is read out of configurations; the scales are held by the systems' scores."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from transformers import BartConfig, GPT2Config, LEDConfig, T5Config

from trigner.encoders.encoder_decoder import end_of, positions_of, start_of


@pytest.mark.parametrize(
    ("config", "encoder", "decoder"),
    [
        (BartConfig(max_position_embeddings=30), 30, 30),
        (LEDConfig(max_encoder_position_embeddings=60, max_decoder_position_embeddings=20), 60, 20),
        (GPT2Config(n_positions=50), 50, 50),
        (T5Config(), None, None),
        (SimpleNamespace(max_position_embeddings=-1), None, None),
        (
            SimpleNamespace(max_position_embeddings=9, max_decoder_position_embeddings=20),
            9,
            9,
        ),
    ],
)
def test_positions_of_each_half(config, encoder, decoder):
    assert positions_of(config, "encoder") == encoder
    assert positions_of(config, "decoder") == decoder


@pytest.mark.parametrize(
    ("own", "writing", "expected"),
    [
        ({"decoder_start_token_id": 5, "bos_token_id": 0, "eos_token_id": 2}, {}, 5),
        ({"bos_token_id": 0}, {"decoder_start_token_id": 7}, 7),
        ({"bos_token_id": 0, "eos_token_id": 2}, None, 0),
        ({"decoder_start_token_id": None, "bos_token_id": None, "eos_token_id": [3, 4]}, {}, 3),
        ({}, {}, None),
    ],
)
def test_what_texts_start_with(own, writing, expected):
    generation = None if writing is None else SimpleNamespace(**writing)
    model = SimpleNamespace(config=SimpleNamespace(**own), generation_config=generation)
    assert start_of(model) == expected


def test_what_ends_texts():
    assert end_of(SimpleNamespace(eos_token_id=2)) == 2
    assert end_of(SimpleNamespace(eos_token_id=[4, 5])) == 4
    assert end_of(SimpleNamespace(eos_token_id=[])) is None
    assert end_of(SimpleNamespace()) is None
