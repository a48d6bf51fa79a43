"""The command line run in this process, and a small corpus."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from trigner.cli.app import main
from trigner.training.settings import flat, resolve

TEXTS = {
    "one": ("my left leg hurt. no pain.\n", ["T1\tADR 3 11;12 16\tleft leg hurt"]),
    "two": (
        "numb left and right arm.\r\n\r\nmy leg felt numb after the tablet.\n",
        [
            "T1\tADR 0 9;20 23\tnumb left arm",
            "T2\tADR 0 4;14 23\tnumb right arm",
            "T3\tADR 31 34;40 44\tleg numb",
            "T4\tDrug 55 61\ttablet",
            "R1\tcauses Arg1:T4 Arg2:T3",
        ],
    ),
    "three": ("no pain after the second tablet\n", []),
}


SMALL = {
    "model.lstm_size": 8,
    "model.channels": 4,
    "model.pair_size": 6,
    "model.grid_size": 5,
    "model.biaffine_size": 5,
    "model.toe.heads": 2,
    "model.toe.feed_forward": 7,
    "model.mac.size": 12,
    "model.mac.span_size": 8,
    "optimisation.epochs": 2,
}
"""Settings of a training of seconds."""


@dataclass(frozen=True)
class Result:
    """What a command printed and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch, capsys) -> Callable[..., Result]:
    """Run `trigner` with these arguments."""

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["trigner", *map(str, arguments)])
        # Wide enough that no line of what is compared breaks.
        monkeypatch.setenv("COLUMNS", "200")
        code = 0
        try:
            main()
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        printed = capsys.readouterr()
        return Result(code, printed.out, printed.err)

    return command


@pytest.fixture
def gold(tmp_path):
    """A brat folder of three documents."""
    folder = tmp_path / "gold"
    folder.mkdir()
    for name, (text, lines) in TEXTS.items():
        (folder / f"{name}.txt").write_bytes(text.encode())
        (folder / f"{name}.ann").write_text("".join(line + "\n" for line in lines))
    return folder


@pytest.fixture(scope="session")
def quick():
    """Options of `trigner train` for a training of seconds: those that have an effect on a system
    with these assignments, which come behind them."""

    def options(system="w2ner", assignments=()):
        settings = resolve(options={"system": system}, assignments=assignments)
        known = flat(settings.as_json())
        read = {name: value for name, value in SMALL.items() if name in known}
        small = (f"{name}={value}" for name, value in read.items())
        given = (part for own in (*small, *assignments) for part in ("--set", own))
        return [*given, "--device", "cpu"]

    return options


@pytest.fixture(scope="session")
def model(saved_model):
    """The folder of the model that commands are run with."""
    return saved_model
