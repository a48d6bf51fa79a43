"""`--encoding` and `--missing-annotations`, wherever corpora are read."""

from __future__ import annotations

import json
import shutil

import pytest

from trigner.lab.studies.corpus import CorpusLocation, read_splits
from trigner.lab.studies.protocols import protocol

TOLD = "no .ann for 1 of 3 texts, such as two.txt"


@pytest.fixture
def incomplete(gold):
    (gold / "two.ann").unlink()
    return gold


def commands(folder, model, tmp_path):
    """Those that train or score."""
    return {
        "train": ("train", "--train", folder, "--out", tmp_path / "m", "--device", "cpu"),
        "evaluate": ("evaluate", "--model", model, "--data", folder),
        "find-threshold": ("find-threshold", "--model", model, "--data", folder),
        "score": ("score", "--gold", folder, "--pred", folder),
        "prompt": ("prompt", "--data", folder, "--llm", "x", "--out", tmp_path / "p", "--dry-run"),
    }


NAMES = ("train", "evaluate", "find-threshold", "score", "prompt")


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_file_ends_training_and_scoring(run, incomplete, model, tmp_path, name, wording):
    result = run(*commands(incomplete, model, tmp_path)[name])
    assert result.code == 2
    wording(result.err)
    assert "--missing-annotations" in result.err


@pytest.mark.parametrize("name", NAMES[1:])
def test_it_is_a_document_without_entities_where_that_is_said(
    run, incomplete, model, tmp_path, name
):
    command = commands(incomplete, model, tmp_path)[name]
    result = run(*command, "--missing-annotations", "empty")
    assert result.code == 0, result.err
    assert f"{TOLD}: read as documents without entities" in result.err


@pytest.mark.parametrize(
    "command", [("stats",), ("ceiling", "--system", "bio", "--data"), ("extract",)]
)
def test_elsewhere_it_is_counted(run, incomplete, model, command):
    last = ("--model", model) if command == ("extract",) else ()
    result = run(*command, incomplete, *last)
    assert result.code == 0, result.err
    assert f"{TOLD}: read as documents without entities" in result.err


def test_a_study_counts_them_too(tmp_path, incomplete, refused):

    for part in ("train", "dev", "test"):
        shutil.copytree(incomplete, tmp_path / "corpus" / part)
    location = CorpusLocation("c", tmp_path / "corpus")
    with refused("train"):
        read_splits(location, protocol("full"))
    found = read_splits(location, protocol("full"), missing_annotations="empty")
    assert len(found.notices) == 3


def in_cp1252(folder):
    (folder / "one.txt").write_bytes("my café leg hurt".encode("cp1252"))
    (folder / "one.ann").write_bytes("T1\tADR 3 7\tcafé\n".encode("cp1252"))
    return folder


def test_one_file_in_another_encoding_is_left_out_and_listed(run, gold, tmp_path, wording):
    folder = in_cp1252(gold)
    result = run("convert", folder, tmp_path / "a.jsonl", "--to", "jsonl")
    assert result.code == 2
    assert "one.txt:1" in result.err
    wording(result.err)
    result = run("convert", folder, tmp_path / "a.jsonl", "--to", "jsonl", "--skip-bad")
    assert result.code == 0, result.err
    assert "one.txt:1: left out: byte 6 is not UTF-8" in result.err
    assert "1 file or line left out, listed above" in result.err
    assert "2 documents" in result.err


@pytest.mark.parametrize("encoding", ["auto", "cp1252"])
def test_another_encoding_is_read(run, gold, model, tmp_path, encoding):
    folder = in_cp1252(gold)
    target = tmp_path / "a.jsonl"
    result = run("convert", folder, target, "--to", "jsonl", "--encoding", encoding)
    assert result.code == 0, result.err
    first = json.loads(target.read_text("utf-8").splitlines()[0])
    assert first["entities"][0]["text"] == "café"
    assert ("read as cp1252, a guess" in result.err) is (encoding == "auto")
    for command in (
        ("stats", folder),
        ("extract", folder, "--model", model),
        ("evaluate", "--data", folder, "--model", model),
        ("score", "--gold", folder, "--pred", folder),
    ):
        result = run(*command, "--encoding", encoding)
        assert result.code == 0, result.err


def test_an_unknown_encoding_is_told(run, gold, tmp_path, wording):
    result = run("stats", gold, "--encoding", "klingon")
    assert result.code == 2
    assert "--encoding" in result.err
    wording(result.err)


def test_standard_input_in_another_encoding(run, model, monkeypatch):
    import io
    import sys

    for options in ((), ("--lines",)):

        class Bytes:
            buffer = io.BytesIO("café\n".encode("cp1252"))

        monkeypatch.setattr(sys, "stdin", Bytes)
        arguments = ("-", *options, "--model", model, "--format", "jsonl", "--encoding", "auto")
        result = run("extract", *arguments)
        assert result.code == 0, result.err
        assert json.loads(result.out)["text"].strip() == "café"
        assert "standard input: is not UTF-8: read as cp" in result.err
