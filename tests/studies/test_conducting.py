from __future__ import annotations

import json
from dataclasses import replace

import pytest
from rich.console import Console

from study_results import STUDY, result_of
from trigner.errors import InputError, TrignerError
from trigner.prompting import words_sha256
from trigner.studies import (
    Changes,
    Folders,
    Options,
    Room,
    Setup,
    conduct,
    placed,
    protocol,
    report,
    runs,
    stand,
)

FULL = protocol("full")
ROOM = Room(1, None, ("cpu",))
QUIET = Console(quiet=True)
REPORT = {"report.md", "report.html", "runs.csv", "summary.csv", "significance.csv"}
REPORT |= {"window-small.svg"}
GAPS = {f"gaps-small-{part}.svg" for part in ("train", "dev", "test")}


def quiet(message):
    pass


def setup_of(study, corpus_folder, tmp_path, **changes):
    folders = Folders(tmp_path / "work", tmp_path / "results")
    return Setup(study, FULL, (placed(str(corpus_folder), None),), Changes(**changes), folders)


def made_up(run, corpus, folders, options, console):
    return result_of(run, corpus, folders.results)


def test_only_what_is_not_there_is_made(finished, corpus, corpus_folder, tmp_path, monkeypatch):
    study, results = finished
    monkeypatch.setattr("trigner.studies.conducting.Making", lambda name: made_up)
    removed = next(results.rglob("control-2*.json"))
    removed.unlink()
    told = []
    conduct(setup_of(study, corpus_folder, tmp_path), Options("cpu"), ROOM, QUIET, told.append)
    assert told[0] == "small: 6 runs, 1 to do, 1 at a time; protocol full"
    assert told[1].startswith("small: control, seed 2: dev F1 57.14 (discontinuous ")
    assert removed.is_file()


def test_runs_that_are_the_same_are_made_once(declare, corpus_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("trigner.studies.conducting.Making", lambda name: made_up)
    same = "beside:\n  again: {triplets.weight: 0, triplets.margin: 2}\n"
    study = declare(STUDY.replace("beside:\n", same))
    told = []
    setup = setup_of(study, corpus_folder, tmp_path)
    conduct(setup, Options("cpu"), ROOM, QUIET, told.append)
    assert told[0].startswith("small: 8 runs, 6 to do")
    assert {s.state for s in stand(setup, quiet)["small"]} == {"done"}


def test_failed_runs_fail_the_command_after_the_others(
    declare, corpus_folder, tmp_path, monkeypatch
):
    def some_fail(run, corpus, folders, options, console):
        if run.system == "window=5":
            raise TrignerError("diverged")
        return made_up(run, corpus, folders, options, console)

    monkeypatch.setattr("trigner.studies.conducting.Making", lambda name: some_fail)
    setup = setup_of(declare(), corpus_folder, tmp_path)
    with pytest.raises(TrignerError, match="2 of the runs failed, see above; the others are done"):
        conduct(setup, Options("cpu"), ROOM, QUIET, quiet)
    states = {(s.run.system, s.state) for s in stand(setup, quiet)["small"]}
    assert states == {("window=none", "done"), ("control", "done"), ("window=5", "to do")}
    with pytest.raises(InputError, match="say where the corpus lies"):
        conduct(replace(setup, places=()), Options("cpu"), ROOM, QUIET, quiet)


def test_the_report_with_and_without_the_data(finished, corpus_folder, tmp_path):
    study, _ = finished
    setup = setup_of(study, corpus_folder, tmp_path)
    names = {path.name for path in report(setup, tmp_path / "a", quiet)}
    assert names == {*REPORT, *GAPS, "cases-small.html"}
    cases = (tmp_path / "a" / "cases-small.html").read_text()
    assert "control and window=none on small, test, seed 1" in cases
    names = {path.name for path in report(setup, tmp_path / "d", quiet, texts=False)}
    assert names == {*REPORT, *GAPS}
    told = []
    bare = replace(setup, places=())
    names = {path.name for path in report(bare, tmp_path / "b", told.append)}
    assert names == REPORT
    assert told == ["small: for its statistics and cases give --data"]
    with_data, without = (
        (tmp_path / name / "report.md").read_text().split("## small: data") for name in "ab"
    )
    assert with_data[0] == without[0].split("## small: runs")[0]
    with pytest.raises(InputError, match=r"no predictions of a system 'x' are kept, only: window"):
        report(setup, tmp_path / "c", quiet, cases=("control", "x"))


def test_language_models_stand_beside_the_systems(finished, corpus_folder, tmp_path):
    study, _ = finished
    setup = setup_of(study, corpus_folder, tmp_path)
    path = tmp_path / "qwen" / "two-shot" / "sentences.jsonl"
    path.parent.mkdir(parents=True)
    words = ["my", "left", "leg", "hurt", ".", "no", "pain", "."]
    line = {"document": "test-one", "sentence": 0, "types": ["ADR"]}
    line["words_sha256"] = words_sha256(words)
    path.write_text(json.dumps({**line, "predicted": []}) + "\n")
    written = report(setup, tmp_path / "a", quiet, prompted=[tmp_path / "qwen"])
    assert "language-models-small-1.html" in {path.name for path in written}
    text = (tmp_path / "a" / "report.md").read_text()
    section = text.split("## small: beside language models")[1]
    assert "On the 1 of 3 test sentences that were asked about" in section
    assert "| qwen, two-shot | – | 0.00 |" in section
    with pytest.raises(InputError, match="of one corpus: name it with --data"):
        report(replace(setup, places=()), tmp_path / "b", quiet, prompted=[tmp_path / "qwen"])


def test_no_results_yet(declare, corpus_folder, tmp_path):
    setup = setup_of(declare(), corpus_folder, tmp_path)
    with pytest.raises(InputError, match="small has no results yet"):
        report(setup, tmp_path / "a", quiet)
    assert {s.state for s in stand(setup, quiet)["small"]} == {"to do"}
    assert stand(replace(setup, places=()), quiet) == {}


def test_what_a_search_found_is_run_once_it_has_ended(
    declare, corpus_folder, tmp_path, monkeypatch
):
    monkeypatch.setattr("trigner.studies.conducting.Making", lambda name: made_up)
    monkeypatch.setattr(
        "trigner.studies.search.dev_scores",
        lambda run, *_: {"overall": run.settings.triplets.margin, "discontinuous": 0.0},
    )
    study = declare(
        "title: a\nseeds: [1, 2]\n"
        "search: {trials: 3, ranges: {triplets.margin: {choices: [0.5, 1.5]}}}\n"
    )
    setup = setup_of(study, corpus_folder, tmp_path)
    assert runs(study, FULL) == setup.runs("small") == []
    conduct(setup, Options("cpu"), ROOM, QUIET, quiet)
    made = setup.runs("small")
    assert [(r.system, r.seed) for r in made] == [("found", 1), ("found", 2)]
    assert made[0].settings.triplets.margin in (0.5, 1.5)
