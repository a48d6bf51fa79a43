"""Trainings and studies that are killed at random moments and resumed; writers on a full disk.

Extractions and prompts are killed in `tests/cli/test_partial.py` and
`tests/lab/commands/test_prompt.py`.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from study_results import STUDY, write_corpus
from tiny_encoders import tiny_encoder
from trigner.models.folder import hash_of_file, read_description
from trigner.training.records import RUN

SMALL = (
    *("model.lstm_size=8", "model.channels=4", "model.pair_size=6", "model.grid_size=5"),
    *("optimisation.batch_size=1", "optimisation.epochs=8"),
)


@dataclass(frozen=True)
class Killed:
    """How often it was killed and how it ended."""

    kills: int
    resumed: int


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "trigner", *map(str, arguments)]


def done(arguments: Sequence[object]) -> None:
    """A command that has to succeed."""
    run = subprocess.run(command(*arguments), capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]


def killed(
    arguments: Sequence[object],
    out: Path,
    earliest: float,
    latest: float,
    most: int,
    chosen: random.Random,
) -> int:
    """Run a command until it succeeds, and kill it so often at most, so many seconds after its
    start. One that ends before its first kill begins anew, without `out`, and is killed earlier:
    the machine has become quicker since the seconds were measured."""
    kills = 0
    for _ in range(100):
        run = subprocess.Popen(command(*arguments), stderr=subprocess.PIPE, text=True)
        try:
            _, err = run.communicate(
                timeout=chosen.uniform(earliest, latest) if kills < most else None
            )
        except subprocess.TimeoutExpired:
            run.kill()
            run.communicate()
            kills += 1
            continue
        assert run.returncode == 0, err[-2000:]
        if kills:
            return kills
        earliest, latest = 0.8 * earliest, 0.8 * latest
        shutil.rmtree(out)
    raise AssertionError("it was never killed before its end")


def training(folder: Path, seed: int, kills: int) -> Killed:
    """A training that was killed ends with the weights of one that was not."""
    encoder = tiny_encoder(folder / "encoder", "bert", head=False)
    corpus = write_corpus(folder / "corpus")
    given = ["--train", corpus / "train", "--dev", corpus / "dev", "--encoder", encoder]
    given += [part for own in SMALL for part in ("--set", own)] + ["--device", "cpu"]
    whole, out = folder / "whole", folder / "out"
    started = time.monotonic()
    run = subprocess.Popen(
        command("train", *given, "--out", whole),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while run.poll() is None and not (whole / RUN).exists():
        time.sleep(0.005)
    earliest = time.monotonic() - started
    assert run.wait() == 0
    latest = time.monotonic() - started
    again = ["train", *given, "--out", out, "--resume"]
    number = killed(again, out, earliest, latest, kills, random.Random(seed))
    expected = read_description(whole).files
    assert read_description(out).files == expected
    assert {name: hash_of_file(out / name) for name in expected} == expected
    assert not (out / "checkpoints").exists(), "checkpoints stay"
    return Killed(number, 1)


def study(folder: Path, seed: int, kills: int) -> Killed:
    """A study that was killed has the results of one that was not, each run once."""
    encoder = tiny_encoder(folder / "encoder", "bert", head=True)
    corpus = write_corpus(folder / "small")
    path = folder / "mine.yaml"
    path.write_text(STUDY, "utf-8")
    given = [path, "--data", corpus, "--encoder", encoder, "--seeds", "1", "--device", "cpu"]
    started = time.monotonic()
    done(["study", "run", *given, "--out", folder / "whole"])
    latest = time.monotonic() - started
    again = ["study", "run", *given, "--out", folder / "out"]
    number = killed(again, folder / "out", latest / 3, latest, kills, random.Random(seed))
    whole, out = (results(folder / name / "results" / "small") for name in ("whole", "out"))
    assert whole == out
    return Killed(number, len(out))


def results(folder: Path) -> dict[str, Any]:
    """What a study found, without times."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        content = json.loads(path.read_text("utf-8"))["run"]
        for changing in ("seconds", "notes"):
            content.pop(changing)
        found[path.name] = json.dumps(content, sort_keys=True)
    return found


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A file system in memory of so many kilobytes. Raises OSError where none can be had."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    made = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
    if made.returncode:
        raise OSError(made.stderr.strip())
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def filled(arguments: Sequence[object], disk: Path) -> str:
    """What a command says that writes to a full disk: one error, no traceback, exit code 1 or 2.

    What was on the disk before is as it was.
    """
    before = {path: path.read_bytes() for path in disk.rglob("*") if path.is_file()}
    run = subprocess.run(
        command(*arguments),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert run.returncode in (1, 2), (run.returncode, run.stderr[-2000:])
    assert "Traceback" not in run.stderr, run.stderr[-3000:]
    assert {path: path.read_bytes() for path in before} == before
    return run.stderr
