"""Jobs without a model and without Ray: which rows are in the output, whatever happens."""

from __future__ import annotations

import errno
import json
import os
import random

import pytest

from rows import FindPain, found_in, read_rows, write_rows
from trigner.errors import InputError, TrignerError
from trigner.machine.locks import locked
from trigner.pipeline.bulk import output as output_room
from trigner.pipeline.bulk import reading
from trigner.pipeline.bulk.job import Job
from trigner.pipeline.bulk.output import JOB, JOURNAL, STATE, SUCCESS, SUMMARY, begun
from trigner.pipeline.bulk.shapes import chosen_columns, look_at
from trigner.pipeline.bulk.sources import find_sources
from trigner.pipeline.bulk.workers import InProcess

TEXTS = ("pain", "no", "a bad day", "much pain")


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    """Three files of 40 rows, in small batches."""
    monkeypatch.setattr(reading, "ROWS", 3)
    monkeypatch.setattr("trigner.pipeline.bulk.job.ROWS", 3)
    for name in ("a.parquet", "b.jsonl.gz", "c.csv"):
        rows = [{"id": str(n // 2), "text": TEXTS[n % 4]} for n in range(40)]
        write_rows(tmp_path / name, rows)
    return tmp_path


def expected(folder, rows=40, names=("a.parquet", "b.jsonl.gz", "c.csv")):
    return [
        {
            "id": str(n // 2),
            "entities": None if "bad" in TEXTS[n % 4] else found_in(TEXTS[n % 4]),
            "error": "bad" if "bad" in TEXTS[n % 4] else None,
            "file": str(folder / name),
            "row": n,
        }
        for name in names
        for n in range(rows)
    ]


def run(
    folder, *, workers=None, format="parquet", part_rows=10, show=lambda progress: None, **made
):
    out = folder / "out"
    sources, _ = find_sources([str(folder)], out=out)
    shapes = look_at(sources)
    readable = [p for p in zip(sources, shapes, strict=True) if not isinstance(p[1], InputError)]
    columns = chosen_columns(readable, text="text", id=None, keep=())
    with begun(out, made, format=format) as output:
        job = Job(sources, shapes, columns, output, fingerprint="abc", part_rows=part_rows)
        return job.run(workers or InProcess(FindPain()), show)


class Shuffled:
    """Several batches under way, done in any order and in pieces, some of them twice as late."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def annotated(self, batches):
        held = []
        for batch in batches:
            held.append(batch)
            while len(held) > self.random.randrange(8):
                yield from self.done(held)
        while held:
            yield from self.done(held)

    def done(self, held):
        batch = held.pop(self.random.randrange(len(held)))
        middle = self.random.randrange(batch.rows)
        for start, stop in ((0, middle), (middle, batch.rows)):
            if start < stop:
                yield from InProcess(FindPain()).annotated([batch.slice(start, stop)])


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
@pytest.mark.parametrize("seed", range(4))
def test_every_row_is_in_the_output_in_order(inputs, seed, format):
    summary = run(inputs, workers=Shuffled(seed), format=format)
    assert read_rows(inputs / "out") == expected(inputs)
    statistics = {"sentences": 120, "on_special_words": 0}
    counts = {"rows": 120, "entities": 60, "errors": 30, "parts": 15, "complete": True}
    assert summary.items() >= {**counts, **statistics}.items()
    assert json.loads((inputs / "out" / SUCCESS).read_text()) == summary


class KilledError(BaseException):
    """What nobody catches."""


def at_call(monkeypatch, number, error):
    """Let the disk fail when so many files were brought to it, after half of what was written."""
    to_disk, calls = output_room._to_disk, []

    def fail(file):
        calls.append(1)
        if len(calls) == number:
            file.truncate(file.tell() // 2)
            raise error
        to_disk(file)

    monkeypatch.setattr(output_room, "_to_disk", fail)


def rows_done(out):
    """How many rows are in parts that the journal has a whole line for."""
    journal = out / STATE / JOURNAL
    lines = journal.read_bytes().split(b"\n")[:-1] if journal.exists() else []
    return sum(json.loads(line).get("counts", {"rows": 0})["rows"] for line in lines)


@pytest.mark.parametrize("number", range(1, 30, 2))
@pytest.mark.parametrize("error", [KilledError(), OSError(errno.ENOSPC, "No space left on device")])
def test_after_any_end_the_same_job_goes_on(inputs, monkeypatch, number, error):
    with monkeypatch.context() as patch:
        at_call(patch, number, error)
        with pytest.raises((KilledError, TrignerError)) as raised:
            run(inputs, workers=Shuffled(number))
    if isinstance(error, OSError):
        assert "No space left on device" in str(raised.value)
    assert not (inputs / "out" / SUCCESS).exists()
    shown, before = [], rows_done(inputs / "out")
    assert (before > 0) == (number > 2)
    summary = run(
        inputs, workers=Shuffled(number + 1), show=lambda p: shown.append((p.done, p.total))
    )
    assert read_rows(inputs / "out") == expected(inputs)
    assert (summary["rows"], summary["errors"], summary["complete"]) == (120, 30, True)
    assert before < shown[0][0] <= before + 3
    assert shown[-1] == (120, 120)


def test_parts_that_the_journal_does_not_know_are_made_again(inputs):
    run(inputs)
    whole = read_rows(inputs / "out")
    journal = inputs / "out" / STATE / JOURNAL
    lines = journal.read_bytes().splitlines(keepends=True)
    (inputs / "out" / SUCCESS).unlink()
    journal.write_bytes(b"".join(lines[:4]) + lines[4][:9])
    (inputs / "out/.part-x.parquet.1234.tmp").write_bytes(b"half")
    run(inputs)
    assert read_rows(inputs / "out") == whole
    assert not list((inputs / "out").glob(".*"))


def test_a_part_that_is_gone_is_told(inputs, refused):
    run(inputs)
    min((inputs / "out").glob("part-*")).unlink()
    with refused():
        run(inputs)


@pytest.mark.parametrize("line", [b"{", b"[]", b"{}", b'{"part": "x"}'])
def test_a_damaged_journal_is_told(inputs, line, refused):
    run(inputs)
    journal = inputs / "out" / STATE / JOURNAL
    journal.write_bytes(line + b"\n" + journal.read_bytes())
    with refused():
        run(inputs)


def test_another_job_is_refused_unless_nothing_was_done(inputs, monkeypatch, refused):
    with monkeypatch.context() as patch:
        at_call(patch, 1, KilledError())
        with pytest.raises(KilledError):
            run(inputs, threshold="0.1")
    run(inputs, threshold="0.2")
    with refused():
        run(inputs, threshold="0.1")
    assert run(inputs, threshold="0.2")["rows"] == 120


def test_a_folder_of_others_is_left_alone(inputs, refused):
    (inputs / "out").mkdir()
    (inputs / "out/notes.pdf").write_text("mine")
    with refused():
        run(inputs)
    assert os.listdir(inputs / "out") == ["notes.pdf"]
    (inputs / "out/notes.pdf").unlink()
    (inputs / "out").rmdir()
    (inputs / "out").write_text("a file")
    with refused():
        run(inputs)


def test_two_processes_do_not_write_one_output(inputs, refused):
    with (
        locked(inputs / "out" / STATE / "lock"),
        refused(),
    ):
        run(inputs)


def test_a_damaged_file_is_told_and_the_others_are_done(inputs):
    (inputs / "a.parquet").write_bytes(b"PAR1 nothing PAR1")
    packed = (inputs / "b.jsonl.gz").read_bytes()
    (inputs / "b.jsonl.gz").write_bytes(packed[:-20])
    summary = run(inputs)
    assert not summary["complete"]
    assert not (inputs / "out" / SUCCESS).exists()
    assert {os.path.basename(name) for name in summary["unreadable"]} == {"a.parquet", "b.jsonl.gz"}
    rows = read_rows(inputs / "out")
    assert [r for r in rows if r["file"].endswith("csv")] == expected(inputs, names=["c.csv"])
    others = [r for r in rows if not r["file"].endswith("csv")]
    assert others == expected(inputs, names=["b.jsonl.gz"])[: len(others)]
    assert run(inputs) == summary


def test_the_summary_and_errors_of_all_bad_rows(tmp_path):
    write_rows(tmp_path / "a.jsonl", [{"id": "1", "text": "bad"}] * 30)
    summary = run(tmp_path)
    assert (summary["rows"], summary["errors"], summary["complete"]) == (30, 30, True)
    assert all(row["entities"] is None for row in read_rows(tmp_path / "out"))


@pytest.mark.parametrize(
    "name", [STATE, *(f"{STATE}/{name}" for name in (JOB, JOURNAL, SUMMARY)), SUCCESS]
)
@pytest.mark.parametrize("target", ["file", "folder", "none"])
def test_links_where_the_job_keeps_its_own_are_refused(inputs, tmp_path, name, target, refused):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "file").write_text("theirs\nno newline")
    (theirs / "folder").mkdir()
    (tmp_path / "out" / STATE).mkdir(parents=True)
    if name == STATE:
        (tmp_path / "out" / STATE).rmdir()
    (tmp_path / "out" / name).symlink_to(theirs / target)
    with refused():
        run(inputs)
    assert (theirs / "file").read_text() == "theirs\nno newline"
    assert sorted(path.name for path in theirs.rglob("*")) == ["file", "folder"]
