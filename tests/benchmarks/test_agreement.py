"""The votes of `benchmarks/agreement.py`, on made-up results of a small study."""

from __future__ import annotations

from dataclasses import replace

import agreement
import pytest

from study_results import STUDY, result_of, write_corpus
from trigner.lab.studies.corpus import corpus_location, read_splits
from trigner.lab.studies.declaration import find_study
from trigner.lab.studies.grid import runs
from trigner.lab.studies.protocols import protocol


@pytest.fixture
def made(tmp_path):
    """Arguments that name a study, its corpus and results; the control finds least."""
    study = tmp_path / "small.yaml"
    study.write_text(STUDY)
    folder = write_corpus(tmp_path / "small")
    corpus = read_splits(corpus_location(str(folder), None), protocol("full"))
    for run in runs(find_study(str(study)), protocol("full")):
        kept = 1 if run.system == "control" else 3
        result_of(run, corpus, tmp_path / "results", kept=kept)
    return [str(study), "--data", str(folder), "--results", str(tmp_path / "results")]


def test_more_than_half(tmp_path):
    folder = write_corpus(tmp_path / "small")
    document = read_splits(corpus_location(str(folder), None), protocol("full")).test[1]
    first, second, third, _ = document.entities
    answers = [(second, first), (first, third), (third, first), (first,)]
    agreed = agreement.voted([[replace(document, entities=answer)] for answer in answers])
    assert [each.entities for each in agreed] == [(first,)]  # two of four are not enough
    agreed = agreement.voted([[replace(document, entities=answer)] for answer in answers[:3]])
    assert [each.entities for each in agreed] == [(first, third)]


def test_systems_vote_seed_by_seed(made, capsys):
    names = ["control", "window=5", "window=none"]
    agreement.main([*made, *(part for name in names for part in ("--system", name))])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [line[0] for line in lines[:4]] == [*names, "systems"]
    assert [line[1] for line in lines[:4]] == ["2"] * 4
    assert lines[0][2] == "57.14"
    assert lines[3][2:] == lines[1][2:]  # two of three find the same
    assert lines[4][:2] == ["overall:", "+31.75"]


def test_seeds_vote_once(made, capsys):
    agreement.main([*made, "--system", "control", "--over", "seeds"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert lines[1][:5] == ["seeds", "of", "control", "1", "57.14"]
    assert lines[2][:2] == ["overall:", "+0.00"]


def test_no_runs(made):
    with pytest.raises(SystemExit, match="no runs of w2ner by the protocol full"):
        agreement.main([*made, "--system", "w2ner"])


def test_runs_are_found_by_their_settings(made, capsys):
    others = [*made, "--system", "control", "--over", "seeds"]
    with pytest.raises(SystemExit, match="no runs of control"):
        agreement.main([*others, "--set", "optimisation.weight_decay=0.5"])
    agreement.main([*others, "--set", "optimisation.epochs=2", "--seeds", "2"])
    assert capsys.readouterr().out.splitlines()[1].split()[1] == "1"
