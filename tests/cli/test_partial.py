"""Extractions that end early go on, and nothing that is there is lost for them."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import stat
import subprocess
import sys
import time

import pytest

import trial_seed
from trigner.cli import partial as room
from trigner.cli.extract import OUTPUTS
from trigner.corpora.formats import FORMATS
from trigner.corpora.jsonl import LineWriter
from trigner.machine.atomic_files import atomic_write
from trigner.machine.locks import locked
from trigner.machine.quantities import counted

SENTENCES = (
    "my left leg hurt .",
    "numb arm after the second tablet .",
    "no pain .",
    "the right arm",
)


@pytest.fixture
def notes(tmp_path):
    """Documents, one a line; one of them is long."""
    path = tmp_path / "notes.jsonl"
    texts = [SENTENCES[n % 4] for n in range(6)]
    texts[2] = " ".join(SENTENCES * 5)
    lines = [json.dumps({"id": f"note-{n}", "text": text}) for n, text in enumerate(texts)]
    path.write_text("\n".join(lines) + "\n")
    return path


def contents(path):
    """A file's bytes, or those of all files in a folder."""
    if path.is_file():
        return path.read_bytes()
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*")}


@pytest.fixture
def extract(run, model, notes, tmp_path):
    """Extract the notes to `out` below the test's folder."""

    def command(out, *options, format="jsonl"):
        given = ("extract", notes, "--model", model, "--device", "cpu", "--format", format)
        return run(*given, "--out", tmp_path / out, *options)

    return command


def interrupt(monkeypatch, after):
    """End the process, as it were, when so many documents are done and the next has begun."""
    add, done = LineWriter.add, []

    def interrupted(writer, document, entities, *, is_last):
        if len(done) == after:
            add(writer, document, entities, is_last=False)
            raise KeyboardInterrupt
        add(writer, document, entities, is_last=is_last)
        done.append(document.id)

    patch = monkeypatch.context()
    patch.__enter__().setattr(LineWriter, "add", interrupted)
    return patch


@pytest.mark.parametrize("format", OUTPUTS)
def test_resumed_after_any_document_it_gives_the_bytes_of_an_uninterrupted_one(
    extract, monkeypatch, tmp_path, format, wording
):
    assert extract("whole", format=format).code == 0
    in_folder = format in FORMATS and FORMATS[format].writes_folder
    partial = tmp_path / "out" / ".partial" if in_folder else tmp_path / "out.partial"
    for done in range(7) if format == "jsonl" else (0, 3, 6):
        patch = interrupt(monkeypatch, done)
        stopped = extract("out", format=format)
        patch.__exit__(None, None, None)
        assert (stopped.code == 0) == (done == 6)
        if done == 0:
            assert not partial.exists()
        elif done < 6:
            lines = partial.read_text("utf-8").split("\n")
            assert [json.loads(line)["id"] for line in lines[:-1]] == [
                f"note-{n}" for n in range(done)
            ]
            assert lines[-1].startswith('{"id": ')
            assert f"{counted(done, 'document')} done: in {partial}; --resume" in stopped.err
            refused = extract("out", format=format)
            assert refused.code == 2
            assert "--resume" in refused.err
            wording(refused.err)
            resumed = extract("out", "--resume", format=format)
            assert resumed.code == 0, resumed.err
            assert f"already done: {done} document" in resumed.err
            assert "\n6 documents in " in resumed.err
        if done:
            assert contents(tmp_path / "out") == contents(tmp_path / "whole")
        assert {p.name for p in tmp_path.iterdir()} - {"out"} == {"notes.jsonl", "whole"}
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        (tmp_path / "out").unlink(missing_ok=True)


@pytest.fixture
def stopped(extract, monkeypatch, tmp_path):
    """An extraction to `out` that was interrupted after two documents."""
    patch = interrupt(monkeypatch, 2)
    assert extract("out").code != 0
    patch.__exit__(None, None, None)
    return tmp_path / "out.partial"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--threshold", "0.3"], "--threshold"),
        (["--batch-size", "3"], "--batch-size"),
        (["--skip-bad"], "--skip-bad"),
        (["--format", "bigbio"], "--format"),
    ],
)
def test_it_is_resumed_with_the_same_options_only(extract, stopped, options, named, wording):
    result = extract("out", *options, "--resume")
    assert result.code == 2
    assert named in result.err
    wording(result.err)
    assert len(stopped.read_text().splitlines()) == 3
    assert extract("out", "--resume").code == 0


def test_it_is_resumed_with_the_same_model_and_input_only(
    run, extract, stopped, notes, model, tmp_path, wording
):
    lines = notes.read_text()
    notes.write_text(lines.replace("note-5", "note-x"))
    assert "different input" in extract("out", "--resume").err
    notes.write_text(lines)
    other = shutil.copytree(model, tmp_path / "other")
    path = other / "trigner.json"
    path.write_text(path.read_text() + "\n")
    result = extract("out", "--resume", "--model", other)
    assert result.code == 2
    wording(result.err)
    assert extract("out", "--resume").code == 0


def test_what_comes_from_standard_input_must_begin_as_before(
    run, model, monkeypatch, tmp_path, notes, wording
):
    out = tmp_path / "out"
    given = ("extract", "-", "--lines", "--model", model, "--format", "jsonl", "--out", out)

    def feed(*lines):
        class Lines:
            buffer = iter(lines)

        monkeypatch.setattr(sys, "stdin", Lines)

    feed(b"numb arm\n", b"pain\n", b"\xff\n")
    assert run(*given).code == 2
    for lines in ([b"numb arm\n", b"no pain\n", b"pain\n"], [b"numb arm\n"]):
        feed(*lines)
        result = run(*given, "--resume")
        assert result.code == 2
        wording(result.err)
    feed(b"numb arm\n", b"pain\n", b"my leg\n")
    assert run(*given, "--resume").code == 0
    texts = [json.loads(line)["text"] for line in out.read_text().splitlines()]
    assert texts == ["numb arm", "pain", "my leg"]


def test_what_is_damaged_or_another_programs_is_not_resumed(extract, stopped, wording):
    lines = stopped.read_bytes()
    stopped.write_bytes(b"{}\n" + lines)
    result = extract("out", "--resume")
    assert result.code == 2
    assert "out.partial:1" in result.err
    wording(result.err)
    stopped.write_bytes(lines)
    record = stopped.with_name("out.partial.record")
    kept = record.read_text()
    for text in ("{", "{}", "[]"):
        record.write_text(text)
        result = extract("out", "--resume")
        assert result.code == 2
        assert "out.partial.record" in result.err
        wording(result.err)
    record.unlink()
    result = extract("out", "--resume")
    assert result.code == 2
    wording(result.err)
    record.write_text(kept)
    assert extract("out", "--resume").code == 0


@pytest.mark.parametrize("record", ["", '{\n "made_w'])
def test_what_was_killed_while_it_wrote_its_record_is_resumed(extract, tmp_path, record):
    (tmp_path / "out.partial.record").write_text(record)
    (tmp_path / ".out.partial.record.0123456789abcdef.tmp").write_text(record)
    result = extract("out", "--resume")
    assert result.code == 0, result.err
    assert [own.name for own in tmp_path.iterdir() if "out" in own.name] == ["out"]


def test_to_begin_again_replaces_what_was_done(extract, stopped, tmp_path):
    assert extract("out", "--overwrite").code == 0
    assert extract("whole").code == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert not stopped.exists()


def test_resume_begins_where_nothing_is_and_refuses_what_is_whole(extract, tmp_path, wording):
    assert extract("out", "--resume").code == 0
    for options in ([], ["--resume"]):
        result = extract("out", *options)
        assert result.code == 2
        wording(result.err)


def test_an_output_is_replaced_when_asked_and_not_before_the_new_one_is_whole(
    extract, monkeypatch, tmp_path
):
    out = tmp_path / "out"
    out.write_text("old")
    assert extract("out").code == 2
    patch = interrupt(monkeypatch, 2)
    assert extract("out", "--overwrite").code != 0
    patch.__exit__(None, None, None)
    assert out.read_text() == "old"
    assert extract("out", "--resume").code == 0
    assert extract("whole").code == 0
    assert contents(out) == contents(tmp_path / "whole")


def test_a_folder_is_replaced_without_what_is_no_output(extract, tmp_path, wording):
    out = tmp_path / "out"
    out.mkdir()
    (out / "former.ann").write_text("")
    (out / "former.txt").write_text("old")
    assert extract("out", format="brat").code == 2
    (out / "thesis.doc").write_text("mine")
    result = extract("out", "--overwrite", format="brat")
    assert result.code == 2
    assert "thesis.doc" in result.err
    wording(result.err)
    (out / "thesis.doc").unlink()
    assert extract("out", "--overwrite", format="brat").code == 0
    assert extract("whole", format="brat").code == 0
    assert contents(out) == contents(tmp_path / "whole")


def test_codes_are_counted_from_where_it_goes_on(extract, monkeypatch, tmp_path):
    pytest.importorskip("rapidfuzz")
    (tmp_path / "v.csv").write_text("code,name\nF1,left leg\n")
    link = ("--link", tmp_path / "v.csv", "--link-threshold", "0")
    assert " a code since" not in extract("whole", *link).err
    patch = interrupt(monkeypatch, 2)
    extract("out", *link)
    patch.__exit__(None, None, None)
    assert (
        " since the extraction was resumed (threshold 0)\n" in extract("out", "--resume", *link).err
    )


@pytest.mark.parametrize("format", ["jsonl", "html", "grid"])
def test_a_file_that_appears_meanwhile_stays(extract, monkeypatch, tmp_path, format):
    out = tmp_path / "out"
    publish = room.Journal.publish

    def late(journal, title):
        out.write_text("theirs")
        return publish(journal, title)

    with monkeypatch.context() as patch:
        patch.setattr(room.Journal, "publish", late)
        result = extract("out", format=format)
    assert (result.code, "has appeared meanwhile" in result.err) == (1, True)
    assert out.read_text() == "theirs"
    assert "6 documents done" in result.err
    assert extract("out", "--resume", format=format).code == 2
    assert out.read_text() == "theirs"
    assert extract("out", "--resume", "--overwrite", format=format).code == 0
    assert extract("whole", format=format).code == 0
    assert contents(out) == contents(tmp_path / "whole")
    assert {p.name for p in tmp_path.iterdir()} == {"notes.jsonl", "whole", "out"}


@pytest.mark.parametrize("format", ["brat", "cas"])
def test_a_file_that_appears_in_a_folder_meanwhile_stays(extract, monkeypatch, tmp_path, format):
    out = tmp_path / "out"
    publish = room.Journal.publish
    ending = {"brat": ".ann", "cas": ".xmi"}[format]
    theirs = []

    def late(journal, title):
        ids = [document.id for document in journal.documents()]
        theirs.append(out / f"{ids[2]}{ending}")
        theirs[0].write_text("theirs")
        return publish(journal, title)

    with monkeypatch.context() as patch:
        patch.setattr(room.Journal, "publish", late)
        result = extract("out", format=format)
    assert (result.code, "has appeared meanwhile" in result.err) == (1, True)
    assert extract("out", "--resume", format=format).code == 1
    assert theirs[0].read_text() == "theirs"
    theirs[0].unlink()
    assert extract("out", "--resume", format=format).code == 0
    assert extract("whole", format=format).code == 0
    assert contents(out) == contents(tmp_path / "whole")


@pytest.mark.parametrize("format", ["jsonl", "html", "brat"])
def test_killed_while_the_output_gets_its_name_it_goes_on(extract, monkeypatch, tmp_path, format):
    def killed(journal):
        raise SystemExit(9)

    with monkeypatch.context() as patch:  # nothing behind it is done either
        patch.setattr(room.Journal, "discard", killed)
        patch.setattr(room.Journal, "_write_state", lambda journal, **changes: None)
        assert extract("out", format=format).code == 9
    record = tmp_path / "out" / ".partial.record" if format == "brat" else None
    record = record or tmp_path / "out.partial.record"
    record.write_text(record.read_text().replace('"complete": false', '"complete": true'))
    resumed = extract("out", "--resume", format=format)
    assert resumed.code == 0, resumed.err
    assert extract("whole", format=format).code == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert {p.name for p in tmp_path.iterdir()} == {"notes.jsonl", "whole", "out"}


def test_two_at_a_time_are_refused(extract, tmp_path, wording):
    with locked(tmp_path / "out.partial.lock"):
        result = extract("out")
    assert result.code == 2
    wording(result.err)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["out.partial", "out.partial.record"])
def test_planted_links_are_not_followed(extract, tmp_path, name):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / name).symlink_to(victim)
    for options in ([], ["--resume"], ["--overwrite"]):
        extract("out", *options)
        assert victim.read_text() == "mine"


def test_links_are_followed_and_devices_stay(extract, tmp_path, monkeypatch, wording):
    (tmp_path / "far").mkdir()
    (tmp_path / "out").symlink_to("far/found.jsonl")
    assert extract("out").code == 0
    assert (tmp_path / "out").is_symlink()
    assert [p.name for p in (tmp_path / "far").iterdir()] == ["found.jsonl"]
    for format in ("jsonl", "html", "grid"):
        assert extract(os.devnull, format=format).code == 0
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    result = extract(os.devnull, "--resume")
    assert result.code == 2
    wording(result.err)


def test_where_nothing_can_be_written_is_told_before_the_work(extract, notes, wording):
    result = extract(f"{notes.name}/out")
    assert result.code == 2
    assert "notes.jsonl" in result.err
    wording(result.err)
    assert "already done" not in result.err


@pytest.mark.parametrize("format", ["jsonl", "brat"])
def test_a_place_where_nothing_can_be_made_is_not_one_where_somebody_writes(extract, format):
    result = extract("/proc/x", format=format)
    assert (result.code in (1, 2), result.out) == (True, "")  # root alone is not refused before
    assert "cannot" in result.err
    assert "another" not in result.err


@pytest.mark.parametrize("format", ["jsonl", "brat", "html"])
def test_a_name_that_is_too_long_is_told(extract, format, wording):
    result = extract("x" * 300, format=format)
    assert result.code == 2
    wording(result.err)


def test_through_a_process_substitution(exported_model, notes, tmp_path):
    command = '"$1" -m trigner extract "$2" --model "$3" --format jsonl'
    script = f'{command} --out >(gzip > "$4/out.gz"); wait; {command} --out "$4/plain.jsonl"'
    given = [sys.executable, notes, exported_model, tmp_path]
    done = subprocess.run(["bash", "-c", script, "bash", *given], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    deadline = time.monotonic() + 30
    while not (tmp_path / "out.gz").stat().st_size and time.monotonic() < deadline:
        time.sleep(0.05)  # gzip writes it at its end
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == contents(tmp_path / "plain.jsonl")
    names = {"out.gz", "plain.jsonl", "notes.jsonl"}
    assert names == {p.name for p in tmp_path.iterdir()}


@pytest.mark.slow
def test_killed_at_random_moments_it_gives_the_bytes_of_an_unkilled_one(exported_model, tmp_path):
    chosen = trial_seed.chosen(7)
    notes = tmp_path / "notes.jsonl"
    with atomic_write(notes) as write:
        for n in range(400):
            text = " ".join(chosen.choices(SENTENCES, k=3))
            write(json.dumps({"id": str(n), "text": text}) + "\n")

    def started(name, *options):
        given = ["extract", notes, "--model", exported_model, "--format", "html"]
        command = [sys.executable, "-m", "trigner", *given, "--out", tmp_path / name, *options]
        return subprocess.Popen(command, stderr=subprocess.DEVNULL)

    assert started("whole").wait() == 0
    partial = tmp_path / "out.partial"
    lines = []
    for _ in range(6):
        run = started("out", "--resume")
        before = partial.stat().st_size if partial.exists() else 0
        more = chosen.randrange(60_000)
        while run.poll() is None and (not partial.exists() or partial.stat().st_size <= before):
            time.sleep(0.0005)
        while run.poll() is None and partial.exists() and partial.stat().st_size < before + more:
            time.sleep(0.0005)
        run.kill()
        run.wait()
        lines.append(partial.read_bytes().count(b"\n") if partial.exists() else 400)
    assert lines == sorted(lines)
    assert any(0 < done < 400 for done in lines)
    if not (tmp_path / "out").exists() or partial.exists():
        assert started("out", "--resume").wait() == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert {p.name for p in tmp_path.iterdir()} == {"notes.jsonl", "whole", "out"}


def test_a_record_that_is_a_link_or_a_fifo_is_refused(extract, tmp_path, wording):
    record = tmp_path / "out.partial.record"
    (tmp_path / "theirs").write_text("{}")
    for make, why in (
        (lambda: record.symlink_to("theirs"), "is a link"),
        (lambda: os.mkfifo(record), "is not a regular file"),
    ):
        for name in ("out.partial", "theirs"):
            (tmp_path / name).write_text("{}")
        make()
        result = extract("out", "--resume")
        assert result.code == 2
        assert why in result.err
        wording(result.err)
        record.unlink()
    assert (tmp_path / "theirs").read_text() == "{}"
