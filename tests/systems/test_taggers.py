from __future__ import annotations

from pkgutil import resolve_name

import pytest

from tiny_models import TAG_SCHEMES
from trigner.schemes import TagSpace
from trigner.systems import CAPABILITIES, own_systems, system_spec, tagger_spec
from trigner.systems.taggers import PAIR_NETWORK
from trigner.training import resolve
from trigner.training.settings import Settings, flat, settings_of

NAMES = tuple(flat(Settings().model_dump(mode="json", exclude={"preset", "system"})))
"""Every shared setting, and all of the tag schemes' own."""

PAIRS = {f"model.{name}" for name in PAIR_NETWORK}
MULTI_LABEL = {"task.multi_label", "task.first_group", "task.negative_rate"}
OF_SEQUENCES = {
    "triplets",
    "optimisation.bias_init",
    "optimisation.distillation",
    "optimisation.rescoring",
    "task.tag_weight",
    "model.mac",
    "model.toe",
    *MULTI_LABEL,
    *(PAIRS - {"model.lstm_size"}),
}
OF_MAC = {
    "optimisation.rescoring",
    "task.tag_weight",
    "task.partial_labels",
    "model.sequence",
    "model.toe",
    *(PAIRS - {"model.lstm_size"}),
}
OWN_NETWORKS = {"model.mac", "model.sequence", "model.toe"}
IGNORED = {
    "w2ner": {"task.partial_labels", *OWN_NETWORKS, *MULTI_LABEL},
    "toe": {"task.partial_labels", "task.tag_weight", "model.mac", "model.sequence"},
    "span_grid": {"task.partial_labels", "task.tag_weight", *OWN_NETWORKS},
    "gap_grid": {"task.partial_labels", "task.tag_weight", *OWN_NETWORKS},
    "mac": OF_MAC,
    "mac_minimal": OF_MAC,
    "corro": OF_SEQUENCES,
    **{name: {"task.partial_labels", *OF_SEQUENCES} for name in ("biohd", "biohd1234", "bio")},
}
"""One line a scheme: what it does not look at, on purpose. It looks at all else."""


def within(name, sections):
    return any(name == section or name.startswith(f"{section}.") for section in sections)


def identity(name, setting, value):
    """What decides the result of a training, with any value in place of a setting's."""
    settings = settings_of(system_spec(name)).model_validate(
        resolve(options={"system": name}).model_dump()
    )
    *sections, last = setting.split(".")
    changed = {last: value}
    parents = [settings]
    for section in sections:
        parents.append(getattr(parents[-1], section))
    for parent, part in zip(reversed(parents), [*reversed(sections), None], strict=True):
        copy = parent.model_copy(update=changed)
        changed = {part: copy}
    return copy.identity()


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # of the value
@pytest.mark.parametrize("name", TAG_SCHEMES)
def test_a_setting_is_read_or_ignored_on_purpose(name):
    """Changing one that is read changes what a training is, and nothing else does."""
    plain = resolve(options={"system": name}).identity()
    assert len(NAMES) > 60
    for setting in NAMES:
        changed = identity(name, setting, "another value")
        if within(setting, IGNORED[name]):
            assert changed == plain, setting
        else:
            assert {n for n in plain if changed[n] != plain[n]} == {setting}


@pytest.mark.parametrize("name", own_systems())
def test_what_a_row_names_is_there(name):
    """No misspelt setting, and no misspelt function or one that takes other arguments."""
    spec = system_spec(name)
    assert spec.unknown_settings(settings_of(spec)) == []
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
    if name not in ("w2ner", "toe", "span_grid", "gap_grid"):
        without.add("rescoring")
    assert set(spec.capabilities) == set(CAPABILITIES) - without


@pytest.mark.parametrize("name", TAG_SCHEMES)
def test_defaults_make_settings_that_are_valid(name):
    settings = resolve(preset="clean", options={"system": name})
    pairs = tagger_spec(name).grid
    assert settings.model.special_words == pairs
    assert (settings.triplets.weight > 0) == pairs
