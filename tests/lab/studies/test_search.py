from __future__ import annotations

import io
from dataclasses import replace

import pytest
from filelock import FileLock
from rich.console import Console

from trigner.errors import InputError, TrignerError
from trigner.lab.studies.changes import Changes
from trigner.lab.studies.commands import study_runs
from trigner.lab.studies.context import Parallelism, StudyContext
from trigner.lab.studies.declaration import find_study, shipped
from trigner.lab.studies.grid import trial
from trigner.lab.studies.jobs import JobResults
from trigner.lab.studies.protocols import protocol
from trigner.lab.studies.search import journal, search, search_state

STUDY = """\
title: a
seeds: [1]
search:
  trials: {trials}
  metric: discontinuous
  ranges:
    triplets.weight: {{low: 0.001, high: 1.0, log: true}}
    optimisation.batch_size: {{low: 2, high: 8}}
    triplets.window: {{choices: [none, 5]}}
"""
FULL = protocol("full")
QUIET = Console(quiet=True)


@pytest.fixture
def scored(monkeypatch):
    """Trials without training: the higher the weight, the better; what was tried."""
    tried = []

    def score(run, corpus, context, console):
        tried.append(run.settings)
        return {"overall": 0.0, "discontinuous": run.settings.triplets.weight / 2}

    monkeypatch.setattr("trigner.lab.studies.search.trial_job", score)
    return tried


@pytest.fixture
def go(corpus, tmp_path):
    def going(study, folders="a", changes=None):
        context = StudyContext(
            study,
            FULL,
            tmp_path / folders / "work",
            tmp_path / folders / "results",
            changes=changes or Changes(),
            device="cpu",
        )
        console = Console(file=io.StringIO(), width=300)
        found = search(context, corpus, console)
        return found, console.file.getvalue().splitlines(), context

    return going


def test_the_best_on_dev_is_found(declare, scored, go):
    found, told, context = go(declare(STUDY.format(trials=4)))
    assert len(found.tried) == len(scored) == len(told) == 4
    best = max(scored, key=lambda settings: settings.triplets.weight)
    assert found.best["triplets.weight"] == best.triplets.weight
    f1s = [f1 for _, f1 in found.tried]
    assert f1s[0] == best.triplets.weight / 2
    assert f1s == sorted(f1s, reverse=True)
    assert all(2 <= s.optimisation.batch_size <= 8 for s in scored)
    assert {s.triplets.window for s in scored} <= {None, 5}
    assert search_state(context, "small") == found


def test_several_sittings_try_what_one_would(declare, scored, go, monkeypatch):
    go(declare(STUDY.format(trials=4)))
    whole = list(scored)
    scored.clear()
    go(declare(STUDY.format(trials=2)), "b")

    def killed(run, corpus, context, console):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("trigner.lab.studies.search.trial_job", killed)
        with pytest.raises(KeyboardInterrupt):
            go(declare(STUDY.format(trials=4)), "b")
    go(declare(STUDY.format(trials=4)), "b")
    assert scored == whole


def test_failed_trials_are_counted_and_not_repeated(declare, go, monkeypatch, refused):
    tried = []

    def fail(run, corpus, context, console):
        tried.append(run)
        if len(tried) != 3:
            raise TrignerError("diverged")
        return {"overall": 0.25, "discontinuous": 0.5}

    monkeypatch.setattr("trigner.lab.studies.search.trial_job", fail)
    for _ in range(2):
        with refused(error=TrignerError):
            go(declare(STUDY.format(trials=2)))
        assert len(tried) == 2
    found, _, context = go(declare(STUDY.format(trials=3)))
    assert (len(found.tried), found.failed, len(tried)) == (1, 2, 3)
    (run,) = study_runs(context, "small")
    assert run.settings.triplets.weight == tried[2].settings.triplets.weight
    # A search that goes on has no best settings yet.
    assert study_runs(replace(context, study=declare(STUDY.format(trials=4))), "small") == []


CHOICES = """\
title: a
seeds: [1]
search:
  trials: 8
  metric: discontinuous
  ranges:
    triplets.weight: {choices: [0.1, 0]}
    triplets.window: {choices: [10, 5]}
"""


@pytest.mark.parametrize("jobs", [1, 4])
def test_what_trains_the_same_is_trained_once(declare, corpus, scored, tmp_path, monkeypatch, jobs):
    """Without triplets a window has no effect, so three trainings are all that there are."""

    def one_by_one(job, runs, corpus, context, console, *, on_done):
        results = JobResults()
        for at, run in enumerate(runs):
            results.done[at] = job(run, corpus, context, console)
            on_done(at, results.done[at])
        return results

    monkeypatch.setattr("trigner.lab.studies.search.run_all", one_by_one)
    parallelism = Parallelism(jobs=jobs)
    context = StudyContext(
        declare(CHOICES), FULL, tmp_path / "w", tmp_path / "r", parallelism=parallelism
    )
    console = Console(file=io.StringIO(), width=300)
    found = search(context, corpus, console)
    in_effect = {(s.triplets.weight, s.triplets.weight and s.triplets.window) for s in scored}
    assert len(found.tried) == 8
    assert found.failed == 0
    assert len(scored) == len(in_effect) <= 3
    told = console.file.getvalue()
    assert told.count("note: trial ") == 8
    assert ("that of trial 1," in told) is (jobs == 1)


def test_settings_that_cannot_go_together_are_one_failed_trial(declare, scored, go, monkeypatch):
    study = declare(STUDY.format(trials=3))
    drawn = []

    def refused(context, values):
        if values not in (*study.search.examples, *drawn):
            drawn.append(values)
        if drawn[1:2] == [values]:
            raise InputError("these cannot go together")
        return trial(study, FULL, context.changes, values)

    monkeypatch.setattr("trigner.lab.studies.search._trial", refused)
    found, told, _ = go(study)
    assert (len(found.tried), found.failed) == (2, 1)
    assert any("failed: these cannot go together" in line for line in told)


def test_another_search_is_not_gone_on_with(declare, scored, go, corpus, refused):
    _, _, context = go(declare(STUDY.format(trials=1)))
    more = declare(STUDY.format(trials=2))
    wider = declare(STUDY.format(trials=1).replace("high: 8", "high: 9"))
    longer = declare(STUDY.format(trials=1) + "base: {optimisation.epochs: 60}\n")
    for study, changes in (
        (wider, Changes()),
        (longer, Changes()),
        (more, Changes(encoder="x")),
        (more, Changes(assignments=["seed=3"])),
    ):
        with refused():
            go(study, changes=changes)
        with refused():
            search_state(replace(context, study=study, changes=changes), "small")
    with refused():
        search_state(replace(context, study=more), "small", {**corpus.hashes, "test": "0"})
    assert len(scored) == 1
    go(more)
    assert len(scored) == 2
    path = journal(context, "small")
    with FileLock(f"{path}.in-use"), refused():
        go(declare(STUDY.format(trials=1)))
    path.write_text("no journal\n")
    with refused():
        go(declare(STUDY.format(trials=1)))


TUNED = ("search-w2ner", "search-control", "search-best")


def test_what_is_compared_is_tuned_with_one_budget():
    first, *others = (find_study(name).search for name in TUNED)
    assert all(other == first for other in others)
    assert not [name for name in first.ranges if not name.startswith("optimisation.")]


@pytest.mark.parametrize("name", TUNED)
def test_each_shipped_search_without_triplets_makes_trials(name, declare, go, encoder):
    small = (
        *("model.lstm_size=8", "model.channels=4", "model.pair_size=6", "model.grid_size=5"),
        "model.biaffine_size=6",
    )
    text = shipped()[name].read_text().replace("trials: 30", "trials: 1")
    study = declare(text.replace("low: 5, high: 30", "low: 1, high: 2"), name)
    found, told, _ = go(study, changes=Changes(encoder=str(encoder), assignments=small))
    assert len(found.tried) == 1
    assert told[-1].startswith("note: trial 1 of 1: dev overall F1 ")
    assert set(found.best) == set(study.search.ranges)
