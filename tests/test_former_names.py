from __future__ import annotations

import pytest

from trigner.former_names import FORMER_NAMES, current_name, with_current_names
from trigner.systems import system_spec
from trigner.training.adaptation import AdaptationSettings
from trigner.training.settings import Settings, flat, settings_of


@pytest.mark.parametrize(("former", "current"), FORMER_NAMES.items())
def test_every_former_name_has_a_current_one(former, current):
    settings = Settings()
    adaptation = {f"adaptation.{name}" for name in AdaptationSettings.model_fields}
    known = {*flat(settings.model_dump()), *Settings.model_fields, *adaptation}
    assert current in known
    assert former not in known
    assert current_name(former) == current
    assert current_name(current) == current


def test_a_section_takes_its_settings_along():
    assert current_name("network.lstm_size") == "model.lstm_size"
    assert current_name("networks") == "networks"
    assert current_name("optimisation.clip_not") == "optimisation.clip_not"


def test_nested_settings_get_the_names_of_today():
    former = {
        "preset": "clean",
        "scheme": "w2ner",
        "network": {"lstm_size": 8, "toe": {"rounds": 2}},
        "optimisation": {"encoder_rate": 0.1, "clip": 1.0, "epochs": 3},
        "sampling": {"coordinated": 0.5},
    }
    current = with_current_names(former)
    assert current == {
        "preset": "clean",
        "system": "w2ner",
        "model": {"lstm_size": 8, "toe": {"rounds": 2}},
        "optimisation": {"encoder_lr": 0.1, "max_grad_norm": 1.0, "epochs": 3},
        "sampling": {"coordination": 0.5},
    }
    assert with_current_names(current) == current
    settings = settings_of(system_spec("w2ner")).model_validate(current)
    assert (settings.model.toe.rounds, settings.optimisation.max_grad_norm) == (2, 1.0)
