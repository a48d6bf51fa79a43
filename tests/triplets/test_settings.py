from __future__ import annotations

import pytest
from pydantic import ValidationError

from trigner.training.settings import resolve
from trigner.triplets.settings import TripletSettings

CLEAN, PAPER = (resolve(preset=name).triplets for name in ("clean", "paper"))


def test_presets_differ_in_their_weight_and_items_13_16_and_17_only():
    differing = {
        option: (getattr(CLEAN, option), getattr(PAPER, option))
        for option in TripletSettings.model_fields
        if getattr(CLEAN, option) != getattr(PAPER, option)
    }
    assert differing == {
        "weight": (0.001, 1.0),
        "unique_masks": ("positives", "both"),
        "window_from": ("word", "anchor"),
        "special_positive": ("cell", "row_or_column"),
    }


def test_defaults_are_clean():
    assert TripletSettings() == CLEAN


def test_the_defaults_are_what_results_were_made_with():
    expected = {
        **{"weight": 0.001, "margin": 1.0, "selection": "centroid", "metric": "euclidean"},
        **{"reduction": "mean_violating", "window": 25, "window_metric": "euclid_rounded"},
    }
    assert {name: getattr(CLEAN, name) for name in expected} == expected


def test_other_names_of_sources_and_selections(refused):
    assert TripletSettings(source="grid", selection="sn-hn").source == "pair_states"
    with refused(error=ValidationError):
        TripletSettings(selection="nearest")


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
def test_an_unknown_value_is_refused_with_the_known_ones(option, refused):
    with refused(error=ValidationError):
        TripletSettings(**{option: "elsewhere"})


@pytest.mark.parametrize(
    ("option", "value"),
    [("window", -1), ("weight", -0.1), ("margin", 0)],
)
def test_numbers_out_of_range_are_refused(option, value, refused):
    with refused(error=ValidationError):
        TripletSettings(**{option: value})


def test_settings_are_frozen(refused):
    with refused(error=ValidationError):
        CLEAN.window = 3
