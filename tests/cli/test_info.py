from __future__ import annotations

import json
import shutil

import pytest

from model_changes import change_description
from tiny_models import TAG_SCHEMES


def test_info(run, model):
    assert "system: w2ner" in run("info", model, "--all").out
    assert json.loads(run("info", model, "--json").out)["labels"] == ["ADR", "Drug"]


def test_what_matters_fits_a_screen(run, model):
    lines = run("info", model).out.splitlines()
    assert len(lines) < 20
    assert any(line.split() == ["finds", "ADR,", "Drug"] for line in lines)
    assert ["system", "w2ner"] in [line.split() for line in lines]
    bundled = run("info").out
    assert "F1 88.2, P 87.7, R 88.8, discontinuous F1 44.4 on 48 documents" in bundled
    assert "apache-2.0" in bundled
    assert {"encoder", "preset"} <= {line.split()[0] for line in bundled.splitlines() if line}
    assert "lstm_size" not in bundled
    assert run("info", "bundled").out == bundled
    assert run("info", "bundled", "--all").out.count("\n") > 100


@pytest.mark.parametrize(
    ("provenance", "shown"),
    [
        ({"settings": {"encoder": ["x"], "preset": 5}}, []),
        ({"foo": {"scores": 5}, "bar": 5}, []),
        ({"dev": {"scores": {"overall": [1, 2]}}}, []),
        ({"dev": {"scores": {"overall": {"f1": "a", "recall": 0.5}}}}, ["dev R 50.0"]),
        ({"dev": {"scores": {"f1": 10**400, "discontinuous": 3}}}, []),
        ({"foo": {"scores": {"f1": 0.5}, "documents": "x"}}, ["foo F1 50.0"]),
    ],
    ids=str,
)
def test_what_provenance_says_otherwise_is_passed_over(run, model, tmp_path, provenance, shown):
    folder = shutil.copytree(model, tmp_path / "model")
    plain = ["model", "finds", "system", "format"]
    change_description(folder, provenance=provenance)
    result = run("info", folder)
    assert result.code == 0
    lines = [" ".join(line.split()) for line in result.out.splitlines()]
    told = [line for line in lines if line and line.split()[0] not in plain]
    assert told == [*shown, "All settings: --all. For programs: --json."]
    for option in ("--all", "--json"):
        assert run("info", folder, option).code == 0


def test_a_terminal_obeys_nothing_of_a_model(run, exported_model, tmp_path):
    red = "\x1b[31mred\x9b"
    folder = shutil.copytree(exported_model, tmp_path / "model")
    changes = {"runtime": {"precision": red}, "provenance": {"data": red}, "trigner": red}
    change_description(folder, labels=[red, "Drug"], **changes)
    commands = (("info", folder), ("info", folder, "--all"), ("info", folder, "--json"))
    extract = ("extract", "my left leg hurt", "--model", folder)
    for command in (*commands, extract, (*extract, "--format", "jsonl")):
        result = run(*command)
        assert result.code == 0
        for printed in (result.out, result.err):
            assert not {"\x1b", "\x9b"} & {*printed}
    assert json.loads(run("info", folder, "--json").out)["labels"] == [red, "Drug"]


def test_the_systems_that_can_be_trained(run):
    shown = json.loads(run("info", "--systems", "--json").out)
    assert set(shown) >= set(TAG_SCHEMES)
    assert "grid" in shown["w2ner"]["can"]
    assert "grid" not in shown["bio"]["can"]
    assert shown["bio"]["package"] == "trigner"
    table = run("info", "--systems").out
    assert all(any(line.startswith(f"{name} ") for line in table.splitlines()) for name in shown)


def test_no_model(run, tmp_path, wording):
    (tmp_path / "trigner.json").write_text('{"format": 99}')
    result = run("info", tmp_path)
    assert result.code == 2
    wording(result.err)


def test_a_model_without_its_weights(run, model, tmp_path):
    folder = shutil.copytree(model, tmp_path / "model")
    (folder / "model.safetensors").unlink()
    result = run("info", folder)
    assert result.code == 2
    assert result.err == f"error: {folder}: this model folder has no model.safetensors\n"
    assert json.loads(run("info", folder, "--json").out)["labels"] == ["ADR", "Drug"]


def test_an_interrupted_training_is_told(run, model, tmp_path):
    assert "interrupted" not in run("info", model).err
    shutil.copytree(model, tmp_path / "half")
    change_description(tmp_path / "half", provenance={"dev": {"epoch": 1}})
    result = run("info", tmp_path / "half")
    assert result.code == 0
    assert "its training was interrupted" in result.err


@pytest.mark.parametrize(
    "command", ["evaluate --data GOLD", "extract GOLD", "find-threshold --data GOLD"]
)
def test_what_runs_an_interrupted_training_tells_of_it(run, model, gold, tmp_path, command):
    arguments = [str(gold) if own == "GOLD" else own for own in command.split()]
    assert "training was interrupted" not in run(*arguments, "--model", model).err
    shutil.copytree(model, tmp_path / "half")
    change_description(tmp_path / "half", provenance={"dev": {"epoch": 1}})
    told = [
        line
        for line in run("info", tmp_path / "half").err.splitlines()
        if "was interrupted" in line
    ]
    result = run(*arguments, "--model", tmp_path / "half")
    assert result.code == 0, result.err
    assert told[0] in result.err.splitlines()
