from __future__ import annotations

import pytest

from trigner.errors import InputError
from trigner.lab.studies.declaration import find_study, shipped
from trigner.lab.studies.grid import runs
from trigner.lab.studies.protocols import protocol
from trigner.lab.studies.published import published


def test_nested_and_dotted_settings_are_one(declare):
    study = declare()
    assert study.base["model.lstm_size"] == 8
    assert study.axes == {"triplets.window": ["none", 5]}
    assert study.compared == {"control": {"triplets.weight": 0}}
    assert study.seeds == [1, 2]


@pytest.mark.parametrize("key", ["base", "systems", "axes", "compared", "search", "report"])
def test_a_key_with_nothing_behind_it_declares_nothing(declare, key):
    study = declare(f"title: a\nseeds: [1]\n{key}:\n")
    assert [run.system for run in runs(study, protocol("full"))] == ["small"]


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_study_can_be(name):
    study = find_study(name)
    made = runs(study, protocol("full"), found={} if study.search else None)
    assert len(made) >= 2 * len(study.seeds)
    assert {run.seed for run in made} == set(study.seeds)
    systems = {run.system for run in made}
    for name in study.report.baseline:
        assert name in systems or any(system.startswith(f"{name}, ") for system in systems)
    if study.report.published is not None:
        ours = {name for row in published(study.report.published).rows for name in row.ours}
        assert ours & systems, "published numbers are shown next to none of the systems"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("title: a\nseeds: [1]\nsystms: {}\n", 3, "systms: unknown key"),
        ("title: a\nseed: [1]\nbase: {}\n", 2, "seed: unknown key"),
        ("title: a\nseeds: [1]\nreport: {basline: x}\n", 3, "report.basline: unknown key"),
        ("title: a\n", 1, "seeds: missing"),
        ("title: a\nseeds: []\n", 2, "seeds: must be a list of at least 1, got"),
        ("title: a\nseeds: [1,\n  1]\n", 2, "duplicate seed"),
        ("title: a\nseeds: [1,\n  4294967296]\n", 3, "must be at most 4294967295"),
        ("title: a\nseeds: [1]\nbase:\n  seed: 3\n", 4, "declare seeds under `seeds`"),
        (
            "title: a\nseeds: [1]\nbase:\n  optimisation:\n    select_by: overall\n",
            5,
            "a study always keeps the best epoch by either score",
        ),
        (
            "title: a\nseeds: [1]\naxes:\n  optimisation: [{select_by: discontinuous}]\n",
            4,
            "a study always keeps the best epoch by either score",
        ),
        ("title: a\nseeds: [1]\nbase:\n  '': 5\n", 3, "'' is no name of a setting"),
        ("title: a\nseeds: [1]\nbase:\n  a: {b: 1}\n  a.b: 2\n", 3, "is there twice, nested"),
        ('title: a\nseeds: [1]\nsystems: {"x\\ny": {}}\n', 3, "is no name of a system"),
        (
            "title: a\nseeds: [1]\nsystems: {x: }\ncompared:\n  x:\n",
            5,
            "'x' is already the name of a system",
        ),
        ("title: a\nseeds: [1]\nreport: {plot: triplets.window}\n", 3, "is not an axis"),
        ("title: a\nseeds: [1]\nreport: {published: nope}\n", 3, "no published table 'nope'"),
        ("title: a\nseeds: [1]\nprotocol: gpu\n", 3, "unknown protocol 'gpu'"),
        (
            "title: a\nseeds: [1]\nsearch:\n  trials: 2\n  ranges:\n    a.b: {low: 3, high: 1}\n",
            6,
            "low must be below high",
        ),
        (
            "title: a\nseeds: [1]\nsearch:\n  trials: 2\n  ranges:\n    a.b: {low: 3}\n",
            6,
            "needs either choices, or low and high",
        ),
        *(
            (
                f"title: a\nseeds: [1]\nsearch:\n  trials: 2\n  ranges:\n    a: {{{wrong}}}\n",
                6,
                told,
            )
            for wrong, told in {
                "low: 1, high: 9, step: 0.5": "step must be whole, as low and high are",
                "low: 0.1, high: 0.9, step: -0.1": "step must be above 0",
                "low: 1, high: 9, step: 0": "step must be above 0",
                "choices: [1, 2], low: 3": "choices take no low, high, log or step",
                "low: 1, high: 1e300": r"high.*: must be at most 9007199254740992",
            }.items()
        ),
        (
            "title: a\nseeds: [1]\nsearch: {trials: 1, ranges: {a: {choices: [1]}}}\n"
            "compared:\n  found: {}\n",
            5,
            "'found' is the name of what the search finds: choose another",
        ),
        (
            "title: a\nseeds: [1]\nsystems: {x: }\n"
            "search: {trials: 1, ranges: {a: {choices: [1]}}}\n",
            4,
            "a search cannot be combined with systems or axes",
        ),
    ],
)
def test_what_is_not_declared_is_refused_with_its_line(declare, text, line, message):
    with pytest.raises(InputError, match=message) as caught:
        declare(text)
    assert caught.value.line == line


def test_a_study_is_found_by_name_or_file(declare, tmp_path, refused):
    declare()
    assert find_study(str(tmp_path / "small.yaml")).name == "small"
    assert find_study("window").title == "Window of the candidates"
    with refused():
        find_study("windw")
    with refused():
        find_study("absent.yaml")
