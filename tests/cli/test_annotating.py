"""Fields that `extract` gives to entities."""

from __future__ import annotations

import json
import os
import re

import pytest

from trigner.cli.annotating import linker

pytest.importorskip("rapidfuzz")

TEXT = "no pain: my left leg and right arm hurt after the second tablet"


@pytest.fixture
def vocabulary(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text("code,name\nF1,left leg\n")
    return path


def entities(run, model, *options):
    result = run("extract", TEXT, "--model", model, "--format", "jsonl", *options)
    assert result.code == 0, result.err
    return json.loads(result.out)["entities"]


def test_fields_come_only_when_asked_for(run, model, vocabulary):
    plain = entities(run, model)
    assert plain
    assert all(set(e) <= {"label", "fragments", "text", "score"} for e in plain)
    more = entities(run, model, "--qualifiers", "--link", vocabulary, "--link-threshold", "0.2")
    bare = [{k: e[k] for k in ("label", "fragments", "text", "score")} for e in more]
    assert bare == plain
    assert any(e.get("negated") is True for e in more)
    assert any(e.get("code") == "F1" for e in more)


def test_they_are_shown_and_reach_brat(run, model, vocabulary, tmp_path):
    options = ("--model", model, "--qualifiers", "--link", vocabulary)
    shown = run("extract", TEXT, *options, "--link-threshold", "0.2").out
    assert "remarks" in shown
    assert "negated" in shown
    assert "F1 left leg" in shown
    assert "remarks" not in run("extract", TEXT, "--model", model).out
    out = tmp_path / "brat"
    assert run("extract", TEXT, *options, "--format", "brat", "--out", out).code == 0
    (annotations,) = out.glob("*.ann")
    assert "negated T" in annotations.read_text()


def test_how_many_entities_have_a_code_is_told(run, model, vocabulary, tmp_path):
    options = ("--model", model, "--link", vocabulary)
    none = run("extract", TEXT, *options, "--link-threshold", "1")
    assert re.search(
        r"^note: 0 of \d+ entit(y has|ies have) a code \(threshold 1\)$", none.err, re.M
    )
    some = run("extract", TEXT, *options, "--link-threshold", "0.2").err
    assert re.search(r"^note: [1-9].* a code: .*\d alike \(threshold 0\.2\)$", some, re.M)
    assert "a code" not in run("extract", TEXT, "--model", model).err
    assert "a code" not in run("extract", TEXT, *options, "--threshold", "1").err  # no entities
    out = tmp_path / "found.jsonl"
    written = run("extract", TEXT, *options, "--format", "jsonl", "--out", out)
    assert (written.code, written.out) == (0, "")
    assert f"1 document in 1 file: {out}\n" in written.err
    assert re.search(r"^note: .* a code.* \(threshold 0\.65\)$", written.err, re.M)


def test_a_vocabulary_in_the_encoding_of_the_input(run, model, tmp_path, refused):
    path = tmp_path / "old.csv"
    path.write_bytes("code,name\nF1,left leg\nF2,Fièvre\n".encode("cp1252"))
    options = ("--link", path, "--link-threshold", "0.2", "--encoding", "cp1252")
    assert any(e.get("code") == "F1" for e in entities(run, model, *options))
    with refused("old.csv", 3):
        linker(path, threshold=0.5)  # as where there is no --encoding


def test_a_vocabulary_that_can_be_read_only_once_is_refused_with_out(run, model, tmp_path, wording):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "none"):
        link = ("--link", tmp_path / name, "--format", "jsonl", "--out", tmp_path / "out.jsonl")
        result = run("extract", "Pain", "--model", model, *link)
        assert result.code == 2
        wording(result.err)
    assert not (tmp_path / "out.jsonl").exists()


def test_resuming_with_other_fields_is_refused(run, model, tmp_path, monkeypatch, wording):
    source = tmp_path / "texts.jsonl"
    source.write_text("".join(json.dumps({"id": str(n), "text": TEXT}) + "\n" for n in range(3)))
    out = tmp_path / "found.jsonl"
    command = ("extract", source, "--model", model, "--format", "jsonl", "--out", out)
    calls = []

    def interrupted(*_):
        calls.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr("trigner.cli.partial.Journal.publish", interrupted)
    run(*command)
    assert calls
    monkeypatch.undo()
    refused = run(*command, "--resume", "--qualifiers")
    assert refused.code == 2
    wording(refused.err)


def test_nothing_found_says_what_the_model_knows(run, model):
    quiet = run("extract", TEXT, "--model", model, "--threshold", "1")
    assert "nothing was found. The model looks for" in quiet.err
    assert "nothing was found" not in run("extract", TEXT, "--model", model).err
    assert "nothing was found" not in run("extract", " ", "--model", model).err
