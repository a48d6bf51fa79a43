"""`trigner annotate`: what it makes of its options, and that a kill loses nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

import trial_seed
from model_changes import change_description
from rows import found, ray_files, read_rows, rows_of, write_rows

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra `scale`)")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def annotate(run, exported_model, tmp_path):
    """Annotate what is in `in` to `out`, both below the test's folder, in this process."""

    def command(*options, inputs=("in",), out="out"):
        given = [tmp_path / name if "://" not in str(name) else name for name in inputs]
        fixed = ("--model", exported_model, "--workers", "0")
        return run("annotate", *given, tmp_path / out, *fixed, *options)

    (tmp_path / "in").mkdir()
    return command


def test_it_writes_what_extract_finds(annotate, exported_model, tmp_path):
    rows = rows_of(300)
    path = write_rows(tmp_path / "in/a.parquet", rows)
    result = annotate("--part-rows", "100")
    assert result.code == 0, result.err
    assert read_rows(tmp_path / "out") == found(exported_model, rows, path)
    schema = pq.read_schema(next((tmp_path / "out").glob("part-*")))
    assert schema.names == ["id", "entities", "error", "file", "row"]
    assert len(schema.metadata[b"trigner.model"]) == 64
    assert pq.read_table(tmp_path / "out").num_rows == 300  # what is no part has no such name
    assert f"{tmp_path}/out: 300 rows, " in result.out
    again = annotate("--part-rows", "7")
    assert (again.code, "is already complete" in again.err) == (0, True)
    assert again.out == result.out


def test_the_model_of_an_interrupted_training_is_told(annotate, exported_model, tmp_path):
    write_rows(tmp_path / "in/a.parquet", rows_of(3))
    assert "training was interrupted" not in annotate().err
    half = shutil.copytree(exported_model, tmp_path / "half")
    change_description(half, provenance={"dev": {"epoch": 1}})
    result = annotate("--model", half, out="other")
    assert (result.code, result.err.count("its training was interrupted")) == (0, 1), result.err


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.csv"])
def test_every_kind_of_input_and_both_of_output(annotate, exported_model, tmp_path, name):
    rows = rows_of(20)
    path = write_rows(tmp_path / "in" / name, rows)
    options = ("--keep", "by,text", "--threshold", "0.3", "--format", "jsonl", "--json")
    result = annotate(*options)
    assert result.code == 0, result.err
    expected = found(exported_model, rows, path, threshold=0.3)
    kept = [
        {"by": row["by"], "text": row["text"], **e} for row, e in zip(rows, expected, strict=True)
    ]
    assert read_rows(tmp_path / "out") == kept
    summary = json.loads(result.out)
    assert summary["rows"] == 20
    assert summary["entities"] == sum(len(row["entities"]) for row in expected)
    assert summary["complete"] is True
    assert summary == json.loads((tmp_path / "out/_SUCCESS").read_text())


def test_bad_rows_are_rows_with_an_error(annotate, tmp_path):
    lines = [
        '{"text": "my leg"}',
        '{"text": null}',
        '{"text": 5}',
        "x",
        '{"text": "%s"}' % ("x" * 60),
    ]
    (tmp_path / "in/a.jsonl").write_text("\n".join(lines))
    result = annotate("--max-characters", "50")
    assert result.code == 0, result.err
    assert ": 5 rows, " in result.out
    assert ", 4 errors, " in result.out
    errors = [row["error"] for row in read_rows(tmp_path / "out")]
    assert errors == [
        *(None, "the text is null", "the text is of type int, not a string"),
        "the line is not JSON: Expecting value: line 1 column 1 (char 0)",
        "the text has 60 characters, of 50 at most",
    ]


def test_other_options_are_refused(annotate, tmp_path, wording):
    write_rows(tmp_path / "in/a.csv", rows_of(4))
    assert annotate().code == 0
    for options, named in [
        (["--threshold", "0.3"], "--threshold"),
        (["--keep", "by"], "columns"),
        (["--batch-size", "3"], "--batch-size"),
        (["--max-characters", "9"], "--max-characters"),
        (["--format", "jsonl"], "--format"),
    ]:
        result = annotate(*options)
        assert result.code == 2
        assert named in result.err
        wording(result.err)
    write_rows(tmp_path / "in/b.csv", rows_of(4))
    assert "holds a job of other inputs: " in (told := annotate().err)
    assert "b.csv is new: continue with the same" in told
    (tmp_path / "in/b.csv").unlink()
    os.utime(tmp_path / "in/a.csv", (1, 1))
    assert "a.csv was changed: continue" in annotate().err


def test_the_same_thresholds_are_the_same_job(annotate, tmp_path):
    write_rows(tmp_path / "in/a.csv", rows_of(4))
    assert annotate("--threshold", "0.5").code == 0
    assert "is already complete" in annotate("--threshold", "0.50").err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--text", "body"], 2, "has no column `body` (there are: id, text, by); --text names"),
        (["--keep", "x"], 2, "has no column `x`"),
        (["--keep", "error"], 2, "`error` is a column that annotate adds"),
        (["--id", "file"], 2, "`file` is a column that annotate adds"),
        (["--threshold", "Dose=0.5"], 2, "threshold of Dose: no such type"),
        (["--address", "localhost:1"], 2, "omit --workers 0"),
        (["--gpu"], 2, "cuda"),
    ],
)
def test_what_cannot_be_done_is_told(annotate, tmp_path, options, code, message):
    write_rows(tmp_path / "in/a.csv", rows_of(4))
    result = annotate(*options)
    assert (result.code, message in result.err) == (code, True), result.err
    assert not list((tmp_path / "out").glob("part-*"))


def test_empty_and_damaged_files_are_told(annotate, tmp_path, wording):
    write_rows(tmp_path / "in/a.csv", rows_of(4))
    (tmp_path / "in/b.csv").write_bytes(b"")
    (tmp_path / "in/c.parquet").write_bytes(b"PAR1")
    result = annotate("--json")
    assert result.code == 1
    assert "b.csv: has no rows" in result.err
    assert result.err.count("c.parquet: cannot be read: the file is damaged: ") == 1
    assert "1 file could not be read to the end; all other rows are in" in result.err
    assert len(read_rows(tmp_path / "out")) == 4
    summary = json.loads(result.out)
    assert (summary["complete"], summary["missing_rows"]) == (False, None)
    assert json.loads((tmp_path / "out/_annotate/summary.json").read_text()) == summary
    assert ", 1 file unreadable, unknown number of rows missing" in annotate().out
    only = annotate(inputs=["in/c.parquet"], out="other")
    assert only.code == 2
    assert "c.parquet" in only.err
    wording(only.err)


def test_bytes_have_no_place_in_json_lines(annotate, tmp_path):
    columns = {"text": ["x"], "b": [b"x"], "named": [{"binary": "x"}], "deep": [[{"a": b"x"}]]}
    pq.write_table(pa.table(columns), tmp_path / "in/a.parquet")
    assert "JSON lines cannot hold binary" in annotate("--keep", "b", "--format", "jsonl").err
    assert "deep: JSON lines cannot" in annotate("--keep", "deep", "--format", "jsonl").err
    assert annotate("--keep", "named", "--format", "jsonl").code == 0
    assert [row["named"] for row in read_rows(tmp_path / "out")] == [{"binary": "x"}]


def test_numbers_that_are_none_are_null_in_json_lines(annotate, tmp_path):
    doses = [float("nan"), float("inf"), 0.5, None]
    pq.write_table(pa.table({"text": ["x"] * 4, "dose": doses}), tmp_path / "in/a.parquet")
    assert annotate("--keep", "dose", "--format", "jsonl").code == 0
    (part,) = (tmp_path / "out").glob("part-*")
    found = [json.loads(line)["dose"] for line in part.read_text("utf-8").splitlines()]
    assert found == [None, None, 0.5, None]


def test_what_has_no_place_in_json_lines_is_an_error_of_its_row(annotate, tmp_path):
    far = pa.array([0, 2**60, 250_000_000_000_000_000], pa.int64())
    table = {
        "id": pa.array([b"a", b"b", b"\xff"]).view(pa.string()),
        "text": ["pain"] * 3,
        "at": far.cast(pa.timestamp("us")),
        "ns": pa.array([1, None, 1], pa.int64()).cast(pa.timestamp("ns")),
        "days": pa.array([[0], [], None], pa.list_(pa.int32())).cast(pa.list_(pa.date32())),
        "took": pa.array([1_000_000_001, 0, None], pa.int64()).cast(pa.duration("ns")),
        "deep": pa.StructArray.from_arrays([far.cast(pa.timestamp("us"))], ["at"]),
    }
    pq.write_table(pa.table(table), tmp_path / "in/a.parquet")
    result = annotate("--keep", "at,ns,days,took,deep", "--format", "jsonl", "--json")
    assert (result.code, json.loads(result.out)["errors"]) == (0, 2), result.err
    rows = read_rows(tmp_path / "out")
    assert [(row["id"], row["error"]) for row in rows] == [
        ("a", None),
        ("b", "`at` cannot be written as JSON: the value is out of range"),
        (None, "`id` is not UTF-8"),
    ]
    assert [row["entities"] is None for row in rows] == [False, True, True]
    (part,) = (tmp_path / "out").glob("part-*")
    first, second, third = map(json.loads, part.read_text("utf-8").splitlines())
    assert first["at"] == "1970-01-01 00:00:00.000000"
    assert first["ns"] == "1970-01-01 00:00:00.000000001"
    assert (first["days"], first["took"]) == (["1970-01-01"], "0:00:01")
    assert second["at"] is None
    assert third["at"].startswith("9892-")


def test_a_default_id_of_bytes_is_left_out_of_json_lines(annotate, tmp_path):
    pq.write_table(pa.table({"text": ["x"], "id": [b"x"]}), tmp_path / "in/a.parquet")
    result = annotate("--format", "jsonl")
    assert (result.code, "the column is not kept: id: JSON lines" in result.err) == (0, True)


def test_names_that_are_not_utf_8_are_escaped(annotate, tmp_path):
    name = os.fsdecode(b"\xff")
    (tmp_path / "in" / f"{name}.csv").write_text("text\npain\n")
    (tmp_path / "in" / f"{name}.txt").write_text("pain")
    assert annotate("--format", "jsonl", out=f"out{name}").code == 0
    files = [row["file"] for row in read_rows(tmp_path / f"out{name}")]
    assert files == [f"{tmp_path}/in/\\xff.csv", f"{tmp_path}/in"]


def test_rows_that_damage_has_taken_are_counted(annotate, tmp_path):
    path = tmp_path / "in/a.parquet"
    texts = [os.urandom(20).hex() for _ in range(60)]
    pq.write_table(pa.table({"text": texts}), path, row_group_size=20, use_dictionary=False)
    page = pq.read_metadata(path).row_group(1).column(0)
    data = bytearray(path.read_bytes())
    for n in range(page.data_page_offset, page.data_page_offset + page.total_compressed_size):
        data[n] = 0
    path.write_bytes(data)
    result = annotate()
    assert (result.code, ": 40 rows, " in result.out) == (1, True)
    assert ", 1 file unreadable, 20 rows missing" in result.out
    assert result.err.count("a.parquet: cannot be read in rows 20 to 39: the file is") == 1
    assert not (tmp_path / "out/_SUCCESS").exists()


def test_an_output_behind_a_url_is_refused(run, exported_model, tmp_path, wording):
    write_rows(tmp_path / "a.csv", rows_of(1))
    result = run("annotate", tmp_path / "a.csv", "s3://bucket/out", "--model", exported_model)
    assert result.code == 2
    wording(result.err)


def test_without_ray_it_says_so(run, exported_model, tmp_path, monkeypatch):
    write_rows(tmp_path / "a.csv", rows_of(1))
    monkeypatch.setattr("trigner.cli.annotate.find_spec", lambda name: None)
    monkeypatch.setattr("trigner.errors.importlib.util.find_spec", lambda n: n != "ray" or None)
    given = ("annotate", tmp_path / "a.csv", tmp_path / "out", "--model", exported_model)
    told = run(*given, "--workers", "2")
    assert (told.code, "this needs ray: pip install 'trigner[scale]'" in told.err) == (1, True)
    alone = run(*given)
    assert (alone.code, "this process annotates alone" in alone.err) == (0, True), alone.err


@pytest.fixture
def start(tmp_path, exported_model, monkeypatch):
    """Start to annotate in a process of its own, in small parts."""
    with ray_files() as folder:
        monkeypatch.setenv("RAY_TMPDIR", folder)
        yield lambda *options: _started(tmp_path, exported_model, *options)


def _started(tmp_path, model, *options):
    given = ("annotate", tmp_path / "in", tmp_path / "out", "--model", model, "--part-rows", "50")
    return subprocess.Popen(
        [sys.executable, "-m", "trigner", *map(str, (*given, *options))],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def done(tmp_path):
    """How many parts are in the journal."""
    journal = tmp_path / "out/_annotate/journal.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def kill_after(run, tmp_path, parts, chosen, *, group):
    """Kill a process, or all of its group, soon after so many more parts are done."""
    until = done(tmp_path) + parts
    while run.poll() is None and done(tmp_path) < until:
        time.sleep(0.002)
    assert run.poll() is None, run.communicate()[1]
    time.sleep(chosen.uniform(0, 0.02))  # amid the next part
    (os.killpg if group else os.kill)(run.pid, signal.SIGKILL)
    run.communicate()


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "groups"), [("0", (False, False)), ("2", (False, True))])
def test_killed_at_any_moment_nothing_is_lost_or_twice(
    start, tmp_path, exported_model, workers, groups
):
    """The process alone is killed, or with it the group that its workers are in."""
    if workers != "0":
        pytest.importorskip("ray", reason="Ray is not installed (extra `scale`)")
    rows = rows_of(800)
    (tmp_path / "in").mkdir()
    paths = [write_rows(tmp_path / "in" / name, rows) for name in ("a.csv", "b.parquet")]
    counts, chosen = [0], trial_seed.chosen(5)
    for kill, group in enumerate(groups):
        parts = 3 + kill + chosen.randrange(4)  # of 32
        kill_after(start("--workers", workers), tmp_path, parts, chosen, group=group)
        counts.append(done(tmp_path))
        assert not (tmp_path / "out/_SUCCESS").exists()
    assert counts == sorted({*counts})
    last = start("--workers", workers)
    told = last.communicate()[1]
    assert last.returncode == 0, told
    assert "rows were already done" in told
    expected = [row for path in paths for row in found(exported_model, rows, path)]
    assert read_rows(tmp_path / "out") == expected
    assert sorted(os.listdir(tmp_path / "out"))[0] == "_SUCCESS"


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 200 KB at `out`."""
    (tmp_path / "out").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(tmp_path / "out")]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no small file system can be mounted (that takes root)")
    yield tmp_path / "out"
    subprocess.run(["umount", str(tmp_path / "out")], check=True)


def test_a_full_disk_ends_the_job_and_room_lets_it_go_on(
    annotate, exported_model, tmp_path, small_disk
):
    rows = [{**row, "by": os.urandom(200).hex()} for row in rows_of(1000)]
    path = write_rows(tmp_path / "in/a.parquet", rows)
    options = ("--keep", "by", "--part-rows", "100")
    for _ in range(2):
        result = annotate(*options)
        assert (result.code, "No space left on device" in result.err) == (1, True), result.err
        assert not (small_disk / "_SUCCESS").exists()
    assert 0 < len(read_rows(small_disk)) < 1000
    subprocess.run(["mount", "-o", "remount,size=5m", str(small_disk)], check=True)
    result = annotate(*options)
    assert result.code == 0, result.err
    expected = found(exported_model, rows, path)
    whole = [{"by": row["by"], **e} for row, e in zip(rows, expected, strict=True)]
    assert read_rows(small_disk) == whole
