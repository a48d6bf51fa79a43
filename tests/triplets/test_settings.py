from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from trigner.errors import InputError
from trigner.triplets import CLEAN, PAPER, CandidateSettings


def test_presets_differ_in_items_13_16_and_17_only():
    differing = {
        option.name: (getattr(CLEAN, option.name), getattr(PAPER, option.name))
        for option in fields(CandidateSettings)
        if getattr(CLEAN, option.name) != getattr(PAPER, option.name)
    }
    assert differing == {
        "unique_masks": ("positives", "both"),
        "window_from": ("word", "anchor"),
        "special_positive": ("cell", "row_or_column"),
    }


def test_defaults_are_clean():
    assert CandidateSettings() == CLEAN


@pytest.mark.parametrize(
    "option",
    [
        "window_metric",
        "window_from",
        "unique_masks",
        "negatives",
        "one_word_anchor",
        "special_positive",
    ],
)
def test_an_unknown_value_is_refused_with_the_known_ones(option):
    with pytest.raises(InputError, match=f"{option} must be one of .*{getattr(CLEAN, option)}"):
        CandidateSettings(**{option: "elsewhere"})


def test_a_negative_window_is_refused():
    with pytest.raises(InputError, match="window"):
        CandidateSettings(window=-1)


def test_settings_are_frozen():
    with pytest.raises(FrozenInstanceError):
        CLEAN.window = 3
