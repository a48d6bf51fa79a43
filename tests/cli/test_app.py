from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from trigner.cli.app import COMMANDS
from trigner.errors import TrignerError
from trigner.machine import available_cpus
from trigner.machine.cpus import FEW_CPUS, WAITING


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_that_teaches(run, command):
    result = run(command, "--help")
    assert result.code == 0
    assert len(result.out.splitlines()) > 10


def test_version_and_no_arguments(run):
    assert run("--version").out.startswith("trigner 0.")
    assert "extract" in run().out + run().err
    assert run("no-such-command").code == 2
    assert "Did you mean 'score'?" in run("scor").err


def test_the_list_names_every_command(run):
    listed = run("--help").out
    for name, about in COMMANDS.items():
        assert f" {name} " in listed
        assert about in listed


def test_a_start_imports_no_other_command():
    code = """
import sys
from trigner.cli import main
sys.argv = ["trigner", "score", "--help"]
try:
    main()
except SystemExit:
    print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "trigner.cli.score" in loaded
    others = {f"trigner.cli.{name.replace('-', '_')}" for name in COMMANDS} - {"trigner.cli.score"}
    assert not loaded & {*others, "onnxruntime", "yaml", "asyncio", "trigner.systems"}


@pytest.mark.skipif(available_cpus() > FEW_CPUS, reason="with many CPUs threads spin")
def test_the_threads_of_pytorch_sleep_while_they_wait():
    """Its OpenMP has been told so, which it reads when PyTorch is imported."""
    code = """
import sys
from trigner.cli import main
sys.argv = ["trigner", "--version"]
try:
    main()
except SystemExit:
    import torch
"""
    environment = {n: value for n, value in os.environ.items() if n not in WAITING}
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "OMP_DISPLAY_ENV": "true"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(r"OMP_WAIT_POLICY\s*=\s*'PASSIVE'", told.stderr), told.stderr


def test_failures_have_exit_code_1(run, model, monkeypatch):
    def fail(*_, **__):
        raise TrignerError("the disk is on fire")

    monkeypatch.setattr("trigner.cli.info.read_description", fail)
    result = run("info", model)
    assert result.code == 1
    assert result.err.strip() == "error: the disk is on fire"


@pytest.mark.parametrize(
    "options", [["--data", "x" * 300], ["--split", "x" * 300], ["--model", "x" * 300]]
)
def test_names_that_are_too_long_are_bad_usage(run, gold, options):
    result = run("evaluate", "--data", gold, *options)
    assert (result.code, len(result.err.splitlines())) == (2, 1)
    assert "too long" in result.err


def test_an_interruption(run, model, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("trigner.cli.info.read_description", stop)
    result = run("info", model)
    assert result.code == 130
    assert result.err.strip() == "interrupted"


def test_a_reader_that_goes_away(model):
    command = f"{sys.executable} -m trigner info {model} | head -c 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


def test_paragraphs_of_help_are_not_broken_within(run, monkeypatch):
    shown = run("train", "--help").out
    assert (
        "Settings come from the defaults, then --preset, --config, --set and the named options"
        in " ".join(shown.split())
    )
    lines = shown.splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith(" The folder of a finished"))
    assert "Settings" in lines[begin]
    examples = run("extract", "--help").out
    assert '\n   trigner extract "Patients' in examples
