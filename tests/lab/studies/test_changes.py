from __future__ import annotations

import pytest

from trigner.errors import InputError
from trigner.lab.studies.changes import Changes
from trigner.lab.studies.declaration import find_study
from trigner.lab.studies.grid import check_axes, runs, trial
from trigner.lab.studies.protocols import protocol

FULL = protocol("full")
HEAD = "title: a\nseeds: [1]\n"
SEARCH = HEAD + "search: {trials: 1, ranges: {triplets.margin: {low: 0.5, high: 2.0}}}\n"


@pytest.mark.parametrize("given", ["triplets.window=5", "triplets={window: 5, margin: 2}"])
def test_what_a_study_varies_is_not_set(declare, given):
    with pytest.raises(InputError) as caught:
        runs(declare(), FULL, Changes(assignments=[given]))
    assert str(caught.value).startswith(f"--set {given}: this study varies triplets.window: omit")


def test_what_a_search_varies_is_not_set(declare, refused):
    study = declare(SEARCH)
    changes = Changes(assignments=["triplets.margin=1"])
    for make in (
        lambda: runs(study, FULL, changes),
        lambda: trial(study, FULL, changes, {"triplets.margin": 0.5}),
    ):
        with refused():
            make()


def test_what_one_system_sets_itself_is_set_for_all(declare):
    study = declare(HEAD + "systems: {own: {triplets.margin: 2}, plain: }\n")
    made = runs(study, FULL, Changes(assignments=["triplets.margin=1.5"]))
    assert {run.settings.triplets.margin for run in made} == {1.5}


@pytest.mark.parametrize("axis", ["encoder: [a/b, minilm]", "preset: [clean, best]"])
def test_an_axis_is_not_overridden_by_an_option_of_its_own(declare, axis, refused):
    name = axis.partition(":")[0]
    study = declare(HEAD + f"axes: {{{axis}}}\n")
    assert len(runs(study, FULL)) == 2
    with refused():
        runs(study, FULL, Changes(**{name: "paper"}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"assignments": ["optimisation.epochs=3", "triplets.windw=3"]},
            "--set triplets.windw=3: window=none: settings: triplets.windw: unknown setting;",
        ),
        (
            {"assignments": ["adapt=true", "adapt.epochs=0"]},
            "--set adapt.epochs=0: window=none: adapt.epochs: must be at least 1",
        ),
        ({"preset": "clea"}, "--preset clea: window=none: unknown preset 'clea'; known are"),
        ({"assignments": ["triplets.x=1", "y=2"]}, "--set triplets.x=1, --set y=2: window=none: "),
        ({"assignments": ["init_from=nowhere"]}, "--set init_from=nowhere: window=none: nowhere:"),
        ({"assignments": ["adapt.epochs=[["]}, "--set 'adapt.epochs=[[': is not valid YAML"),
        ({"assignments": ["window"]}, "--set takes key=value"),
        ({"assignments": ["preset=best"]}, "--set cannot choose the preset: use --preset best"),
    ],
)
def test_wrong_options_are_not_blamed_on_the_study(changes, message):
    with pytest.raises(InputError) as caught:
        runs(find_study("window"), FULL, Changes(**changes))
    assert str(caught.value).startswith(message)


def test_what_the_study_has_wrong_is_not_blamed_on_options(declare, refused):
    study = declare(HEAD + "systems: {x: {triplets.windw: 3}}\n")
    with refused():
        runs(study, FULL, Changes(preset="best", assignments=["optimisation.epochs=3"]))


def checked(study, changes):
    made = runs(study, FULL, changes)
    check_axes(study, changes, made)
    return made


def test_an_axis_that_changes_nothing_is_refused(declare, refused):
    study = declare(HEAD + "axes: {triplets.window: [1, 5], optimisation.epochs: [1, 2]}\n")
    assert len(checked(study, Changes())) == 4
    without = ["triplets.weight=0"]
    with pytest.raises(InputError) as caught:
        checked(study, Changes(assignments=without))
    assert str(caught.value).endswith(
        "small.yaml:3: triplets.window changes nothing with --set triplets.weight=0:"
        " all its values would be the same training"
    )
    few = ("window=1, epochs=1", "window=5, epochs=1")
    assert len(checked(study, Changes(assignments=without, only=few))) == 2
    idle = declare(HEAD + "base: {triplets.weight: 0}\naxes: {triplets.window: [1, 5]}\n")
    with refused():
        checked(idle, Changes())
