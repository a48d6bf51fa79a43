from __future__ import annotations

from pkgutil import resolve_name

import pytest
from pydantic import BaseModel

from tiny_models import TAG_SCHEMES, make_scheme, small_settings
from trigner.encoders.pretrained import encoder_from_config
from trigner.families.tagging.build import build_tagger
from trigner.families.tagging.taggers import tagger_spec
from trigner.schemes.scheme import TagSpace
from trigner.systems.registry import own_systems, system_spec
from trigner.systems.spec import CAPABILITIES
from trigner.training.settings import flat, resolve

CO_PREDICTORS = ({"co_predictor": "w2ner"}, {"co_predictor": "trigner"})
LAYERS = tuple({"sequence": {"layer": layer}} for layer in ("none", "hidden", "bilstm"))
VARIANTS = {
    **dict.fromkeys(("w2ner", "toe", "span_grid", "gap_grid"), CO_PREDICTORS),
    **dict.fromkeys(("mac", "mac_minimal"), ({"mac": {"recurrent": True}}, {})),
    **dict.fromkeys(("corro", "biohd", "biohd1234", "bio"), LAYERS),
}
"""One line a scheme: settings that together make every other one count."""


class Recorder:
    """Settings that remember which of them were read, those of their sections with a dot."""

    def __init__(self, settings, read, above=""):
        self._settings, self._read, self._above = settings, read, above

    def __getattr__(self, name):
        value = getattr(self._settings, name)
        if isinstance(value, BaseModel):
            return Recorder(value, self._read, f"{self._above}{name}.")
        self._read.add(f"{self._above}{name}")
        return value


@pytest.mark.parametrize("name", TAG_SCHEMES)
def test_a_scheme_has_the_settings_that_its_network_reads(encoder, name):
    """No more, and no fewer: another name would be an error of the class."""
    spec, read = tagger_spec(name), {"special_words", "context_words"}  # read with the tokenizer
    model = encoder_from_config(encoder)
    for changes in VARIANTS[name]:
        sizes = {**small_settings(name).model_dump(), **changes}
        build_tagger(model, Recorder(spec.settings(**sizes), read), make_scheme(name, ("A", "B")))
    assert read == flat(spec.settings().model_dump()).keys()


@pytest.mark.parametrize("name", own_systems())
def test_what_a_row_names_is_there(name):
    """No misspelt function, and none that takes other arguments."""
    spec = system_spec(name)
    for part in ("build", "load", "export"):
        if part != "export" or part in spec.capabilities:
            assert callable(spec.implementation(part))
    assert spec.about


@pytest.mark.parametrize("name", TAG_SCHEMES)
def test_the_network_of_a_row_is_there(name):
    assert callable(resolve_name(tagger_spec(name).network))


@pytest.mark.parametrize("name", TAG_SCHEMES)
def test_a_row_makes_its_scheme(name):
    spec = tagger_spec(name)
    scheme = spec.scheme(("ADR", "Drug"))
    assert (scheme.name, scheme.labels) == (name, ("ADR", "Drug"))
    pairs = scheme.tag_space is not TagSpace.SEQUENCE
    assert (spec.grid, spec.triplets) == (pairs, pairs)
    without = set() if pairs else {"grid", "triplets", "teachers"}
    assert set(spec.capabilities) == set(CAPABILITIES) - without


@pytest.mark.parametrize("name", TAG_SCHEMES)
def test_defaults_make_settings_that_are_valid(name):
    settings = resolve(preset="clean", options={"system": name})
    pairs = tagger_spec(name).grid
    assert settings.model.special_words == pairs
    assert bool(settings.triplets and settings.triplets.weight) == pairs
