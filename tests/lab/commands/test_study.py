from __future__ import annotations

import json
import re
import shutil

import pytest

from study_results import STUDY, TEXTS
from tiny_encoders import tiny_encoder
from trigner.lab.studies.declaration import shipped

KNOWTATOR = """<?xml version="1.0" encoding="UTF-8"?>
<annotations textSource="{name}.txt">
  <annotation>
    <mention id="M_1" /><span start="3" end="11" /><span start="12" end="16" />
  </annotation>
  <classMention id="M_1"><mentionClass id="Disease_Disorder">x</mentionClass></classMention>
  <annotation><mention id="M_2" /><span start="0" end="2" /><span start="8" end="11" /></annotation>
  <classMention id="M_2"><mentionClass id="Disease_Disorder">x</mentionClass></classMention>
</annotations>
"""
TEXT = "my left leg hurt. no pain.\n"


@pytest.fixture
def whole_encoder(tmp_path):
    """A tiny encoder with its head for hidden pieces."""
    return tiny_encoder(tmp_path / "tiny", "bert", head=True)


@pytest.fixture
def corpus(tmp_path):
    root = tmp_path / "small"
    for part in ("train", "dev", "test"):
        (root / part).mkdir(parents=True)
        for name, (text, lines) in TEXTS.items():
            (root / part / f"{part}-{name}.txt").write_text(text)
            (root / part / f"{part}-{name}.ann").write_text("".join(f"{x}\n" for x in lines))
    return root


def cadec(root):
    for folder in ("text", "original", "splits"):
        (root / folder).mkdir(parents=True)
    for part in ("train", "dev", "test"):
        names = [f"{part}.{name}" for name in TEXTS]
        (root / "splits" / f"{part}.txt").write_text("".join(f"{n}\n" for n in names))
        for name, (text, lines) in zip(names, TEXTS.values(), strict=True):
            (root / "text" / f"{name}.txt").write_text(text)
            (root / "original" / f"{name}.ann").write_text("".join(f"{x}\n" for x in lines))


def share13(root):
    train = ("Task1TrainSetCorpus199/ALLREPORTS", "Task1TrainSetGOLD199knowtatorehost/ALLSAVED")
    test = ("Task1TestSetCorpus100/ALLREPORTS", "Gold_SN2012")
    for folder in (*train, *test, "splits"):
        (root / folder).mkdir(parents=True)
    for name in ("00001", "00002"):
        (root / train[0] / f"{name}.txt").write_text(TEXT)
        (root / train[1] / f"{name}.txt.knowtator.xml").write_text(KNOWTATOR.format(name=name))
    (root / test[0] / "00003.txt").write_text(TEXT)
    pipes = "00003.txt||Disease_Disorder||CUI-less||3||11||12||16\n"
    (root / test[1] / "00003.txt").write_text(pipes)
    (root / "splits" / "dev.txt").write_text("00002\n")


def share14(root):
    train = (
        "2014ShAReCLEFeHealthTask2_training_corpus",
        "2014ShAReCLEFeHealthTask2_training_pipedelimited",
    )
    test = ("ShAReCLEFeHealth2104Task2_test_data_corpus", "ShAReCLEFeHealth2014_test_data_gold")
    for folder in (*train, *test, "splits"):
        (root / folder).mkdir(parents=True)
    for (texts, gold), names in ((train, ("00001", "00002")), (test, ("00003",))):
        for name in names:
            (root / texts / f"{name}.txt").write_text(TEXT)
            (root / gold / f"{name}.pipe.txt").write_text(f"{name}.txt|0-2,8-11|CUI-less|no|\n")
    (root / "splits" / "dev.txt").write_text("00002\n")


SMALL = [
    option
    for assignment in (
        *("model.lstm_size=8", "model.channels=4", "model.pair_size=6"),
        *("model.grid_size=5", "model.biaffine_size=6", "optimisation.batch_size=1"),
        *("optimisation.epochs=1", "adapt.epochs=1", "adapt.batch_size=2"),
    )
    for option in ("--set", assignment)
]


@pytest.mark.parametrize("unpack", [cadec, share13, share14], ids=lambda unpack: unpack.__name__)
def test_the_papers_set_ups_on_corpora_as_they_unpack(run, tmp_path, whole_encoder, unpack):
    name = unpack.__name__
    unpack(tmp_path / "corpus")
    shared = [f"paper-{name}", "--data", tmp_path / "corpus", "--encoder", whole_encoder]
    shared += ["--out", tmp_path / "out", "--seeds", "123", *SMALL]
    made = run("study", "run", *shared, "--device", "cpu")
    assert made.code == 0, made.err
    assert f"{name}: 4 runs" in made.err
    status = json.loads(run("study", "status", *shared, "--json").out)
    assert {(r["system"], r["state"]) for r in status["runs"]} == {
        (system, "done") for system in ("trigner", "trigner-disc", "control", "w2ner")
    }
    reported = run("study", "report", *shared, "--to", tmp_path / "report")
    assert reported.code == 0, reported.err
    text = (tmp_path / "report" / "report.md").read_text()
    assert f"ours: {name}" in text
    assert "| Li et al. 2022 (W2NER) † |" in text
    assert (tmp_path / "report" / f"cases-{name}.html").is_file()
    results = [
        json.loads(path.read_text())["run"]
        for path in (tmp_path / "out" / "results" / name).glob("*.json")
    ]
    adapted = {
        r["system"]: any(name.startswith("adaptation.") for name in r["settings"]) for r in results
    }
    assert adapted == {
        "trigner": True,
        # One of the released set-ups takes the encoder as it comes.
        "trigner-disc": name != "share13",
        "control": True,
        "w2ner": True,
    }


@pytest.mark.slow
def test_run_status_and_report_of_a_file_of_ones_own(run, tmp_path, corpus, encoder):
    path = tmp_path / "mine.yaml"
    path.write_text(STUDY)
    shared = [path, "--out", tmp_path / "out", "--encoder", encoder]
    only = ["--only", "control", "--only", "window=5", "--seeds", "1"]
    made = run(
        "study",
        "run",
        *shared,
        "--data",
        f"notes={corpus}",
        *only,
        "--jobs",
        "2",
        "--device",
        "cpu",
    )
    assert made.code == 0, made.err
    assert "notes: 2 runs, 2 to do, 2 at a time; protocol full" in made.err
    again = run("study", "run", *shared, "--data", f"notes={corpus}", *only, "--device", "cpu")
    assert "notes: 2 runs, 0 to do" in again.err
    status = run("study", "status", *shared)
    assert "A small study: notes, 2 of 6 runs done" in status.out
    assert re.search(r"4 runs to do: about \d+ (s|min), one at a time", status.out)
    reported = run("study", "report", *shared, "--to", tmp_path / "report")
    assert reported.code == 0, reported.err
    assert reported.out.splitlines()[0].endswith("report.md")
    listed = json.loads(run("study", "report", *shared, "--to", tmp_path / "r2", "--json").out)
    assert listed["files"]["summary.csv"] == str(tmp_path / "r2" / "summary.csv")
    text = (tmp_path / "report" / "report.md").read_text()
    assert "window=5: 1 of 2 seeds have results" in text
    assert str(tmp_path) not in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["windw"], "unknown study 'windw'"),
        (["window", "--protocol", "gpu"], "unknown protocol 'gpu'"),
        (["window", "--seeds", "one"], "--seeds takes whole numbers"),
        (["window", "--seeds", "1,4294967296"], "whole numbers from 0 to 4294967295"),
        (["window", "--seeds", "1,2,1"], "--seeds 1,2,1: duplicate seed"),
        (["window"], "no corpus given"),
        (["window", "--data", "absent"], "no such file or folder"),
        (["window", "--types", "ADR"], "--types needs --data"),
    ],
)
def test_wrong_usage(run, tmp_path, options, message):
    result = run("study", "run", *options, "--out", tmp_path / "out")
    assert result.code == 2
    assert message in result.err


def test_types_given_take_the_place_of_those_declared(run, tmp_path, corpus):
    path = tmp_path / "mine.yaml"
    path.write_text(STUDY + "types: [Dose]\n")
    shared = [path, "--data", corpus, "--out", tmp_path / "out"]
    declared = run("study", "status", *shared)
    assert (declared.code, "no entity of type Dose" in declared.err) == (2, True)
    given = run("study", "status", *shared, "--types", "ADR")
    assert given.code == 0, given.err
    assert "small, 0 of 6 runs done" in given.out


def test_status_says_where_it_has_looked(run, tmp_path):
    looked = run("study", "status", "window", "--results", tmp_path / "none")
    assert looked.code == 0, looked.err
    assert looked.out == f"Window of the candidates: no runs yet in {tmp_path / 'none'}\n"


def test_help_names_every_study(run):
    told = " ".join(run("study", "--help").out.replace("│", " ").split())
    listed = told.split("come with trigner: ")[1].split(". Or give")[0]
    assert sorted(listed.split(", ")) == sorted(shipped())


def test_trackers_are_checked_before_the_first_run(run, tmp_path, corpus):
    (tmp_path / "mine.yaml").write_text(STUDY)
    shared = [tmp_path / "mine.yaml", "--data", corpus, "--out", tmp_path / "out"]
    result = run("study", "run", *shared, "--report-to", "wanbd")
    assert (result.code, result.err.count("unknown tracker 'wanbd'")) == (2, 1)
    assert not (tmp_path / "out").exists()


def test_an_undeclared_option_is_refused_with_file_and_line(run, tmp_path, corpus):
    path = tmp_path / "mine.yaml"
    path.write_text(STUDY.replace("seeds:", "seds: [3]\nseeds:"))
    line = STUDY.splitlines().index("seeds: [1, 2]") + 1
    result = run("study", "run", path, "--data", corpus, "--out", tmp_path / "out")
    assert (result.code, f"mine.yaml:{line}: seds: unknown key" in result.err) == (2, True)


def test_a_damaged_result_is_an_error_and_stays(run, tmp_path, corpus):
    folder = tmp_path / "out" / "results" / "small"
    folder.mkdir(parents=True)
    (folder / "a-1-0.json").write_text("{")
    (tmp_path / "mine.yaml").write_text(STUDY)
    shared = [tmp_path / "mine.yaml", "--data", corpus, "--out", tmp_path / "out"]
    for command in ("run", "status", "report"):
        result = run("study", command, *shared)
        assert (result.code, "a-1-0.json: is damaged" in result.err) == (2, True)
    assert (folder / "a-1-0.json").read_text() == "{"
    shutil.rmtree(tmp_path / "out")


def test_the_studies_that_come_with_it_are_listed(run):
    found = {
        each["name"]: each for each in json.loads(run("study", "list", "--json").out)["studies"]
    }
    assert list(found) == list(shipped())
    assert found["window"] == {
        **{"name": "window", "title": "Window of the candidates"},
        **{"runs": 24, "trials": 0},
    }
    search = found["search"]
    assert (search["runs"], search["trials"]) == (10, 30)
    lines = [line.split() for line in run("study", "list").out.splitlines()]
    assert ["window", "Window", "of", "the", "candidates", "24"] in lines
    assert ["search", "Settings", "found", "on", "dev", "10", "30"] in lines
    assert "study list" in run("study", "--help").out
