from __future__ import annotations

import pytest
from pydantic import ValidationError

from trigner.batches.subwords import SPECIAL_WORDS
from trigner.families.tagging.network_settings import GridSettings, ToeSettings


@pytest.mark.parametrize(
    "wrong",
    [
        {"co_predictor": "other"},
        {"pair_map": "half"},
        {"normalised": "both"},
        {"empty_word": "ones"},
        {"lstm_size": 511},
        {"lstm_size": 0},
        {"encoder_layers": 0},
        {"channels": 0},
        {"pair_size": 0},
        {"dilations": ()},
        {"dilations": (1, 0)},
        {"embedding_dropout": 1.0},
        {"feature_dropout": -0.1},
        {"output_dropout": 1.5},
        {"pair_sizes": 3},
        {"toe": {"rounds": 0}},
        {"toe": {"dropout": 1.0}},
        {"toe": {"heads": 0}},
    ],
)
def test_what_makes_no_network_is_refused(wrong, refused):
    with refused(error=ValidationError):
        ToeSettings(**wrong)


def test_settings_are_frozen(refused):
    with refused(error=ValidationError):
        GridSettings().channels = 3


def test_a_file_gives_back_what_was_written():
    settings = ToeSettings(
        dilations=(1, 2), pair_map="full", special_words=False, toe={"rounds": 2}
    )
    assert ToeSettings.model_validate(settings.model_dump(mode="json")) == settings


def test_special_words_lead_where_they_are_wanted():
    assert GridSettings().leading_words == SPECIAL_WORDS
    assert GridSettings(special_words=False).leading_words == ()


def test_sizes_are_those_of_w2ners_cadec_setting():
    """Published for CADEC with the code of W2NER."""
    settings = GridSettings()
    assert (settings.lstm_size, settings.channels, settings.grid_size) == (512, 80, 120)
    assert (settings.distance_size, settings.region_size) == (20, 20)
    assert (settings.dilations, settings.biaffine_size, settings.encoder_layers) == (
        (1, 2, 3),
        512,
        4,
    )
    assert settings.embedding_dropout == settings.feature_dropout == 0.5
    assert settings.output_dropout == 0.33
