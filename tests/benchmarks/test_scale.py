"""`benchmarks/scale.py`: its quick form on few rows, in one process; how it watches and judges."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra `scale`)")

import pyarrow as pa
import pyarrow.parquet as pq
import scale as benchmark
from speed import kill, on_paper, processes, scale, short_texts


def test_the_quick_form_writes_the_table(exported_model, tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "STARTS", 1)
    (tmp_path / "notes" / "deep").mkdir(parents=True)
    text = "No pain in the left leg.\r\rMy arm hurt after it.\r\n\r\nSo it was.\n"
    (tmp_path / "notes" / "deep" / "a.txt").write_bytes(text.encode())
    options = ["--quick", "--rows", "40", "--many", "6000", "--parts", "30", "--workers", "0"]
    options += ["--no-spark", "--model", str(exported_model), "--many-model", str(exported_model)]
    benchmark.main([*options, "--corpus", str(tmp_path / "notes")], tmp_path / "results")
    table = json.loads((tmp_path / "results" / "scale-quick.json").read_text())
    figures = {each["what"]: each for part in table["sections"] for each in part["figures"]}
    asked = {what: each["reached"] for what, each in figures.items() if each["target"]}
    assert all(asked.values()), asked
    assert (
        figures["rows that are there exactly once, after the kill"]["measured"] == "6,000 of 6,000"
    )
    before = figures["rows in parts when it was killed (kill -9)"]["measured"]
    assert 3000 <= int(before.split()[0].replace(",", "")) < 6000
    assert figures["annotate, 0 workers: entities and scores equal to extract's"]["value"] == 1
    markdown = (tmp_path / "results" / "scale-quick.md").read_text()
    assert markdown.startswith("# Any number of documents")
    assert "40 rows by each set-up" in markdown


def test_sentences_keep_their_characters(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"Pain in both\rmy hips. Yes.")
    texts = short_texts.short_texts([tmp_path], 8)
    assert texts.values == ["Pain in both\rmy hips."]
    assert [texts.row(n)["id"] for n in range(3)] == ["0", "1", "2"]
    assert len(short_texts.short_texts([], 8).values) > 20
    with pytest.raises(SystemExit, match="no sentence"):
        short_texts.short_texts([tmp_path], 3)


def part(folder, name, rows, label="ADR"):
    entity = {"label": label, "fragments": [{"start": 0, "end": 1}], "text": "a", "score": 0.5}
    table = pa.table(
        {
            "id": [str(n) for n in rows],
            "row": list(rows),
            "entities": [[entity]] * len(rows),
            "error": pa.array([None] * len(rows), pa.string()),
        }
    )
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder / f"part-{name}.parquet")
    return folder


def test_rows_that_are_missing_twice_or_other_are_seen(tmp_path):
    whole = part(tmp_path / "whole", "0", range(4))
    lost = part(tmp_path / "lost", "0", range(3))
    twice = part(part(tmp_path / "twice", "0", range(4)), "1", [3])
    other = part(part(tmp_path / "other", "0", range(3)), "1", [3], label="Drug")
    notes = {}
    for folder in (whole, lost, twice, other):
        once, _, equal = kill._exactness(folder, whole, 4)
        notes[folder.name] = once.reached, once.note[:27], equal.reached
    assert notes["whole"] == (True, "0 more than once, 0 missing", True)
    assert notes["lost"] == (False, "0 more than once, 1 missing", False)
    assert notes["twice"] == (False, "1 more than once, 0 missing", False)
    assert notes["other"] == (True, "0 more than once, 0 missing", False)
    assert kill.differing(other, whole) == 1


def test_goals():
    assert scale.ratio("a", 0.9, scale.WORKERS_GOAL).reached
    assert not scale.ratio("a", 0.89, scale.WORKERS_GOAL).reached
    run = processes.Watched(seconds=12.0, processor=3.0, peak=100.0)
    starts = [processes.Watched(seconds=seconds, processor=1.0) for seconds in (3.0, 2.0)]
    slow = scale.Measured(run, starts, 1016, 1016)
    assert slow.rate == 100
    assert slow.processor == pytest.approx(0.002)
    short = scale.Measured(starts[0], starts, 40, 40)
    assert short.rate is None
    assert "too few rows" in scale._rate("a", short).measured
    fast = scale.Measured(replace(run, seconds=6.9), starts, 1016, 1016)
    found = {"extract": fast, scale.ALL_CORES: short, "annotate, 1 worker": slow}
    (only,) = scale._comparisons(found, (1, 2))
    assert (only.measured, only.reached) == ("0.49 x", False)
    assert [figure.what for figure in on_paper._work(slow, grown(run))][:1] == ["annotation"]
    assert not list(on_paper._work(short, grown(run)))
    assert not next(kill._memory(grown(run))).reached


def grown(run):
    return kill.Many(run, processes.Watched(peak=111.0), 10, 110, 2, 10, 10)


@pytest.mark.skipif(not processes.PROC.is_dir(), reason="only Linux has /proc")
def test_a_command_is_watched():
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    block = "x = bytearray(80_000_000); import time; time.sleep(1.5)"
    seen = processes.watched([sys.executable, "-c", child, block])
    assert seen.seconds > 1.5
    assert 2 < seen.peak < 60
    assert max(peak for _, peak in seen.others.values()) > 80
    begin = time.perf_counter()
    killed = processes.watched(
        [sys.executable, "-c", child, "import time; time.sleep(60)"],
        kill=lambda: time.perf_counter() - begin > 1,
    )
    assert killed.is_killed
    processes.wait_for(killed, 0.1)
    assert "time.sleep(60)" in killed.left[0]
    with pytest.raises(RuntimeError, match="oh no"):
        processes.watched([sys.executable, "-c", "raise SystemExit('oh no')"])


def test_going_on_with_many_parts():
    assert on_paper.one_resume("", "parquet", parts=7)() == 7
