from __future__ import annotations

from dataclasses import replace

import pytest

from study_results import result_of
from trigner.lab.studies.cases import cases_page, check_cases, chosen_cases
from trigner.lab.studies.grid import runs
from trigner.lab.studies.protocols import protocol
from trigner.lab.studies.results import read_results
from trigner.lab.studies.summary import gather, summarise

FULL = protocol("full")
STUDY = """\
title: a
systems:
  control: {triplets.weight: 0}
  none: {triplets.weight: 0, triplets.margin: 2}
  near: {triplets.window: 5}
  far: {triplets.window: 25}
seeds: [1, 2]
report: {baseline: control}
"""


@pytest.fixture
def summary(declare, corpus, tmp_path):
    """Results that another study stored, all under one name; `none` is the run of `control`."""
    made = runs(declare(STUDY), FULL)
    for run in made:
        if run.system != "none" and (run.system, run.seed) != ("far", 1):
            kept = {"control": 1, "near": 2, "far": 3}[run.system]
            result_of(replace(run, system="theirs"), corpus, tmp_path, kept=kept)
    systems = gather(made, read_results(tmp_path, "small"), corpus.hashes)
    return summarise("small", systems, ["control"])


def shown(cases):
    return [(name, result.seed) for name, result in cases]


def test_systems_have_the_names_of_this_study(summary, corpus):
    cases = chosen_cases(summary, ("near", "control"))
    assert shown(cases) == [("near", 1), ("control", 1)]
    page = cases_page(corpus, cases)
    assert "near and control on small, test, seed 1" in page
    assert "theirs" not in page


def test_by_default_a_baseline_and_the_best_other_run(summary):
    assert shown(chosen_cases(summary, None)) == [("control", 2), ("far", 2)]
    alone = replace(summary, systems=summary.systems[:2])
    assert chosen_cases(alone, None) is None  # one run under two names
    assert chosen_cases(replace(summary, systems=()), None) is None


def test_which_other_run_is_the_best_dev_says(summary):
    control, _, near, far = summary.systems
    dev_of = [own.results[0].chosen["overall"].dev for own in (far, near)]
    swapped = [
        replace(
            system,
            results=tuple(
                replace(r, chosen={name: replace(own, dev=dev) for name, own in r.chosen.items()})
                for r in system.results
            ),
        )
        for system, dev in zip((near, far), dev_of, strict=True)
    ]
    changed = replace(summary, systems=(control, *swapped))
    assert shown(chosen_cases(changed, None)) == [("control", 1), ("near", 1)]


def test_a_baseline_at_several_points_is_shown_at_that_of_the_best(declare, corpus, tmp_path):
    study = declare(
        "title: a\nseeds: [1]\nsystems: {with: , without: {triplets.weight: 0}}\n"
        "axes: {model.lstm_size: [8, 16]}\nreport: {baseline: without}\n"
    )
    made = runs(study, FULL)
    for run in made:
        result_of(run, corpus, tmp_path, kept=3 if run.system == "with, lstm_size=16" else 1)
    systems = gather(made, read_results(tmp_path, "small"), corpus.hashes)
    cases = chosen_cases(summarise("small", systems, study.report.baseline), None)
    assert [name for name, _ in cases] == ["without, lstm_size=16", "with, lstm_size=16"]


def test_what_was_found_is_shown_in_the_order_of_the_gold(summary, corpus, refused):
    (_, result), _ = chosen_cases(summary, ("near", "control"))
    found = result.predictions()["overall"]
    turned = corpus.test[::-1]
    assert [d.id for d in found.on(turned)] == [d.id for d in turned]
    assert all(e.text == d.surface(e.fragments) for d in found.on(turned) for e in d.entities)
    with refused():
        found.on(corpus.test[1:])
    with refused():
        found.on([*corpus.test, replace(corpus.test[0], id="more")])


def test_two_names_of_one_run_are_not_compared(summary, refused):
    with refused():
        chosen_cases(summary, ("control", "none"))
    one = [replace(s, results=s.results[:1]) for s in summary.systems]
    with refused():
        chosen_cases(replace(summary, systems=tuple(one)), ("near", "far"))
    with refused():
        chosen_cases(summary, ("near", "x"))


@pytest.mark.parametrize(
    ("names", "data", "texts"),
    [
        (("a", "a"), True, True),
        (("a", "b"), False, True),
        (("a", "b"), True, False),
    ],
)
def test_what_cannot_be_shown_is_refused(names, data, texts, refused):
    with refused():
        check_cases(names, data=data, texts=texts)
    check_cases(None, data=data, texts=texts)
    check_cases(("a", "b"), data=True, texts=True)
