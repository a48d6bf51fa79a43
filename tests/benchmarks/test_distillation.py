"""`benchmarks/distillation.py` on a corpus of two documents, and again when it was cut short."""

from __future__ import annotations

import json
import statistics

import distillation
import pytest

from trigner.corpora import write
from trigner.mentions import Document, Entity

DOCUMENTS = [
    Document("a", "my left leg hurt.", (Entity("ADR", ((3, 11), (12, 16)), "left leg hurt"),)),
    Document("b", "pain after the tablet.", (Entity("ADR", ((0, 4),), "pain"),)),
]


def test_students_learn_from_all_teachers(encoder, tmp_path, capsys):
    for part in ("train", "dev", "test"):
        write(DOCUMENTS, tmp_path / f"{part}.jsonl", format="jsonl")
        (tmp_path / "corpus" / part).mkdir(parents=True)
        (tmp_path / f"{part}.jsonl").rename(tmp_path / "corpus" / part / "all.jsonl")
    settings = {
        **{"encoder": str(encoder), "optimisation.epochs": 1, "optimisation.batch_size": 2},
        **{"model.lstm_size": 8, "model.channels": 4, "model.pair_size": 6, "model.grid_size": 5},
    }
    arguments = ["--data", f"small={tmp_path / 'corpus'}", "--teachers", "3", "--students", "2"]
    arguments += ["--work", str(tmp_path / "work"), "--results", str(tmp_path / "results")]
    arguments += ["--device", "cpu"]
    for name, value in settings.items():
        arguments += ["--set", f"{name}={value}"]
    distillation.main(arguments)
    told = json.loads(capsys.readouterr().out)
    assert json.loads((tmp_path / "results" / "small.json").read_text()) == told
    teachers = [f"teacher-{n}" for n in (1, 2, 3)]
    assert [*told["models"]] == [*teachers, "student-101", "student-102"]
    assert set(told["ahead"]) == {"students", "agreement"}
    ahead, of = told["ahead"]["students"]["overall"], told["models"]
    mean = {
        kind: statistics.mean(own["test"]["overall"] for name, own in of.items() if kind in name)
        for kind in ("teacher", "student")
    }
    assert ahead["seeds"] == 6  # each student with each teacher
    expected = pytest.approx(mean["student"] - mean["teacher"], abs=0.01)
    assert 100 * ahead["difference"] == expected
    about = json.loads((tmp_path / "work" / "student-102" / "trigner.json").read_text())
    learnt = [own["model"] for own in about["provenance"]["teachers"]]
    assert learnt == [str(tmp_path / "work" / name) for name in teachers]
    before = (tmp_path / "work" / "teacher-1" / "model.safetensors").stat().st_mtime_ns
    distillation.main(arguments)
    assert json.loads(capsys.readouterr().out) == told
    assert (tmp_path / "work" / "teacher-1" / "model.safetensors").stat().st_mtime_ns == before
    # The same teachers by their folders.
    given = [part for name in teachers for part in ("--teacher", str(tmp_path / "work" / name))]
    distillation.main([*arguments, *given])
    assert json.loads(capsys.readouterr().out) == told
