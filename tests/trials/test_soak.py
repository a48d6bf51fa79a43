"""The short form of `make soak`: seconds instead of half an hour."""

from __future__ import annotations

import ast
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from study_results import write_corpus
from tiny_encoders import tiny_encoder
from trials import kills, soak

SOURCE = Path(__file__).resolve().parents[2] / "src" / "trigner"


def test_the_service_under_load_and_attack(exported_model):
    seen = soak.service(exported_model, 24, clients=50, restarts=2)
    # So short a life has no half in which memory is settled: make soak looks at that.
    assert [fault for fault in seen.faults if "memory" not in fault] == []
    assert seen.statuses["200"] > 20
    assert seen.hostile.total() > 5
    assert seen.restarts == 2


def test_a_killed_training_ends_with_the_weights_of_an_unkilled_one(tmp_path):
    assert kills.training(tmp_path, 3, 3).kills >= 1


def test_a_killed_study_has_the_results_of_an_unkilled_one(tmp_path):
    assert kills.study(tmp_path, 3, 2).resumed == 3


def test_faults_are_told():
    seen = soak.Soaked(2, statuses=Counter({"200": 5, "503": 2, "422": 1, "500": 3}), wrong=1)
    seen.megabytes = [900.0] * 50 + [100.0] * 25 + [106.0] * 25
    assert seen.faults == [
        "3 answers with status 500",
        "1 answers unlike those alone",
        "memory grew by 6.0%",
    ]
    assert soak.Soaked(2).faults == ["no answer at all"]


WALL_CLOCK = {
    "prompting/client.py": ["time.time()"],  # a server's Retry-After may be a date
    "prompting/cache.py": [  # when an answer was recorded
        "datetime.now(UTC).isoformat(timespec='seconds')",
        "datetime.now(UTC)",
    ],
}


def test_a_clock_that_jumps_changes_no_deadline():
    """What passes is measured with clocks that no one sets; moments are written down alone."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        calls = [
            ast.unparse(node)
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Call)
        ]
        moments = [
            own for own in calls if own == "time.time()" or own.startswith(("datetime.", "date."))
        ]
        if moments:
            found[path.relative_to(SOURCE).as_posix()] = moments
    assert {name: own for name, own in found.items() if own != WALL_CLOCK.get(name)} == {}


@pytest.fixture
def disk(tmp_path):
    """A disk of a megabyte with little room left."""
    try:
        with kills.small_disk(tmp_path / "disk", 1024) as folder:
            yield folder
    except OSError as error:
        pytest.skip(f"no small disk can be mounted here: {error}")


@pytest.fixture
def notes(tmp_path):
    """Documents of a quarter of a megabyte."""
    path = tmp_path / "notes.jsonl"
    line = {"text": "my left leg hurt. no pain in arm, numb after the tablet. " * 20}
    path.write_text("".join(json.dumps({"id": str(n), **line}) + "\n" for n in range(200)))
    return path


@pytest.mark.skipif(os.name != "posix", reason="no small disk can be mounted here")
@pytest.mark.parametrize("format", ["jsonl", "brat", "bigbio", "grid", "conll"])
def test_conversions_to_a_disk_that_fills(disk, notes, format):
    (disk / "kept").write_text("mine")
    (disk / "filling").write_bytes(bytes(950 * 1024))
    err = kills.filled(["convert", notes, disk / "out", "--to", format], disk)
    assert "No space left on device" in err
    assert format == "brat" or not (disk / "out").exists()


def test_models_reports_and_exports_to_a_disk_that_fills(disk, saved_model, notes, tmp_path):
    encoder = tiny_encoder(tmp_path / "encoder", "bert", head=False)
    corpus = write_corpus(tmp_path / "corpus")
    (disk / "filling").write_bytes(bytes(950 * 1024))
    small = [part for own in kills.SMALL for part in ("--set", own)]
    given = ["--train", corpus / "train", "--encoder", encoder, *small, "--device", "cpu"]
    for command in (
        ["train", *given, "--dev", corpus / "dev", "--out", disk / "model"],
        ["export", "--model", saved_model, "--out", disk / "exported"],
        ["extract", notes, "--model", saved_model, "--format", "html", "--out", disk / "a.html"],
    ):
        err = kills.filled(command, disk)
        assert "No space left on device" in err or "the disk is full" in err, err
    assert not (disk / "exported" / "trigner.json").exists()
