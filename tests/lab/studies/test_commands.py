from __future__ import annotations

import io
import json
import os
from dataclasses import replace

import pytest
from rich.console import Console

from study_results import STUDY, result_of
from trigner.errors import InputError, TrignerError
from trigner.lab.prompting.sentences import words_sha256
from trigner.lab.studies.changes import Changes
from trigner.lab.studies.commands import (
    run_study,
    seconds_left,
    study_runs,
    study_status,
    write_report,
)
from trigner.lab.studies.context import StudyContext
from trigner.lab.studies.corpus import corpus_location
from trigner.lab.studies.grid import runs
from trigner.lab.studies.protocols import protocol

FULL = protocol("full")
QUIET = Console(quiet=True)
REPORT = {"report.md", "report.html", "runs.csv", "summary.csv", "significance.csv"}
REPORT |= {"window-small.svg", "differences-1-small.svg"}
GAPS = {f"gaps-small-{part}.svg" for part in ("train", "dev", "test")}


def context_of(study, corpus_folder, tmp_path, **changes):
    return StudyContext(
        study,
        FULL,
        tmp_path / "work",
        tmp_path / "results",
        (corpus_location(str(corpus_folder), None),),
        Changes(**changes),
        device="cpu",
    )


def recorded():
    return Console(file=io.StringIO(), width=200)


def lines_of(console):
    return [line.removeprefix("note: ") for line in console.file.getvalue().splitlines()]


def made_up(run, corpus, context, console):
    return result_of(run, corpus, context.results)


def test_only_what_is_not_there_is_made(finished, corpus, corpus_folder, tmp_path, monkeypatch):
    study, results = finished
    monkeypatch.setattr("trigner.lab.studies.commands.run_job", made_up)
    removed = next(results.rglob("control-2*.json"))
    removed.unlink()
    console = recorded()
    run_study(context_of(study, corpus_folder, tmp_path), console)
    told = lines_of(console)
    assert told[0] == "small: 6 runs, 1 to do, 1 at a time; protocol full"
    assert told[1].startswith("small: control, seed 2: dev F1 57.14 (discontinuous ")
    assert removed.is_file()


def test_runs_that_are_the_same_are_made_once(declare, corpus_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("trigner.lab.studies.commands.run_job", made_up)
    same = "compared:\n  again: {triplets.weight: 0, triplets.margin: 2}\n"
    study = declare(STUDY.replace("compared:\n", same))
    console = recorded()
    context = context_of(study, corpus_folder, tmp_path)
    run_study(context, console)
    assert lines_of(console)[0].startswith("small: 8 runs, 6 to do")
    assert {s.state for s in study_status(context, QUIET)["small"]} == {"done"}


def test_the_time_left_is_estimated_from_finished_runs(finished, corpus_folder, tmp_path):
    study, _ = finished
    [statuses] = study_status(context_of(study, corpus_folder, tmp_path), QUIET).values()
    assert seconds_left(statuses) == 0
    took = {("control", 1): 8.0, ("control", 2): 12.0, ("window=5", 1): 30.0}
    some = [
        replace(each, result=None if seconds is None else replace(each.result, seconds=seconds))
        for each in statuses
        for seconds in [took.get((each.run.system, each.run.seed))]
    ]
    # One more of a system that has one, and two of a system that none tells of: a mean of systems.
    assert seconds_left(some) == 30 + 2 * 20
    more = [*some, replace(some[0], run=replace(some[0].run, system="control"), result=None)]
    assert seconds_left(more) == 30 + 2 * 20 + 10
    assert seconds_left([replace(each, result=None) for each in statuses]) is None


def test_failed_runs_fail_the_command_after_the_others(
    declare, corpus_folder, tmp_path, monkeypatch, refused
):
    def some_fail(run, corpus, context, console):
        if run.system == "window=5":
            raise TrignerError("diverged")
        return made_up(run, corpus, context, console)

    monkeypatch.setattr("trigner.lab.studies.commands.run_job", some_fail)
    context = context_of(declare(), corpus_folder, tmp_path)
    with refused(error=TrignerError):
        run_study(context, QUIET)
    states = {(s.run.system, s.state) for s in study_status(context, QUIET)["small"]}
    assert states == {("window=none", "done"), ("control", "done"), ("window=5", "to do")}
    with refused():
        run_study(replace(context, locations=()), QUIET)


def test_a_place_for_no_results_is_told_before_any_run(
    declare, corpus_folder, tmp_path, monkeypatch, refused
):
    monkeypatch.setattr("trigner.lab.studies.commands.run_job", None)
    os.mkfifo(tmp_path / "fifo")
    context = context_of(declare(), corpus_folder, tmp_path)
    for place, error in ((os.devnull, InputError), ("fifo", InputError), ("/proc", TrignerError)):
        for name in ("work", "results"):
            with refused(error=error):
                run_study(replace(context, **{name: tmp_path / place / "x"}), QUIET)
    with refused():
        write_report(context, tmp_path / "fifo", QUIET)


def test_the_report_with_and_without_the_data(finished, corpus_folder, tmp_path, refused):
    study, _ = finished
    context = context_of(study, corpus_folder, tmp_path)
    names = {path.name for path in write_report(context, tmp_path / "a", QUIET)}
    assert names == {*REPORT, *GAPS, "cases-small.html"}
    cases = (tmp_path / "a" / "cases-small.html").read_text()
    assert "control and window=none on small, test, seed 1" in cases
    names = {path.name for path in write_report(context, tmp_path / "d", QUIET, texts=False)}
    assert names == {*REPORT, *GAPS}
    console = recorded()
    bare = replace(context, locations=())
    names = {path.name for path in write_report(bare, tmp_path / "b", console)}
    assert names == REPORT
    assert lines_of(console) == ["small: use --data to include its statistics and cases"]
    with_data, without = (
        (tmp_path / name / "report.md").read_text().split("## small: data") for name in "ab"
    )
    assert with_data[0] == without[0].split("## small: runs")[0]
    with refused():
        write_report(context, tmp_path / "c", QUIET, cases=("control", "x"))


def test_language_models_stand_beside_the_systems(finished, corpus_folder, tmp_path, refused):
    study, _ = finished
    context = context_of(study, corpus_folder, tmp_path)
    path = tmp_path / "qwen" / "two-shot" / "sentences.jsonl"
    path.parent.mkdir(parents=True)
    words = ["my", "left", "leg", "hurt", ".", "no", "pain", "."]
    line = {"document": "test-one", "sentence": 0, "types": ["ADR"]}
    line["words_sha256"] = words_sha256(words)
    path.write_text(json.dumps({**line, "predicted": []}) + "\n")
    written = write_report(context, tmp_path / "a", QUIET, prompted=[tmp_path / "qwen"])
    assert "language-models-small-1.html" in {path.name for path in written}
    text = (tmp_path / "a" / "report.md").read_text()
    section = text.split("## small: compared with language models")[1]
    assert "On the 1 of 3 test sentences that were asked about" in section
    assert "| qwen, two-shot | – | 0.00 |" in section
    with refused():
        write_report(
            replace(context, locations=()), tmp_path / "b", QUIET, prompted=[tmp_path / "qwen"]
        )


def test_no_results_yet(declare, corpus_folder, tmp_path, refused):
    context = context_of(declare(), corpus_folder, tmp_path)
    with refused():
        write_report(context, tmp_path / "a", QUIET)
    assert {s.state for s in study_status(context, QUIET)["small"]} == {"to do"}
    assert study_status(replace(context, locations=()), QUIET) == {}


@pytest.mark.parametrize(
    "changes",
    [
        Changes(only=("windw",)),
        Changes(assignments=["triplets.windw=3"]),
    ],
)
def test_what_is_misspelt_is_told_without_any_results(declare, tmp_path, changes, refused):
    context = StudyContext(declare(), FULL, tmp_path / "w", tmp_path / "r", changes=changes)
    for command in (study_status, lambda c, console: write_report(c, tmp_path / "a", console)):
        with refused():
            command(context, QUIET)


def test_results_that_are_no_folder_are_told(declare, tmp_path, refused):
    (tmp_path / "r").write_text("")
    context = StudyContext(declare(), FULL, tmp_path / "w", tmp_path / "r")
    for command in (study_status, lambda c, console: write_report(c, tmp_path / "a", console)):
        with refused():
            command(context, QUIET)


def test_the_systems_to_show_are_checked_first(declare, tmp_path, refused):
    context = StudyContext(declare(), FULL, tmp_path / "w", tmp_path / "r")
    with refused():
        write_report(context, tmp_path / "a", QUIET, cases=("window=5", "control"))


def test_what_a_search_found_is_run_once_it_has_ended(
    declare, corpus_folder, tmp_path, monkeypatch
):
    monkeypatch.setattr("trigner.lab.studies.commands.run_job", made_up)
    monkeypatch.setattr(
        "trigner.lab.studies.search.trial_job",
        lambda run, *_: {"overall": run.settings.triplets.margin, "discontinuous": 0.0},
    )
    study = declare(
        "title: a\nseeds: [1, 2]\n"
        "search: {trials: 3, ranges: {triplets.margin: {choices: [0.5, 1.5]}}}\n"
    )
    context = context_of(study, corpus_folder, tmp_path)
    assert runs(study, FULL) == study_runs(context, "small") == []
    run_study(context, QUIET)
    made = study_runs(context, "small")
    assert [(r.system, r.seed) for r in made] == [("found", 1), ("found", 2)]
    assert made[0].settings.triplets.margin in (0.5, 1.5)
