from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from trigner.cli import output
from trigner.errors import InputError
from trigner.machine import atomic_files


def test_only_the_first_notices_are_shown_and_all_are_counted(capsys):
    output.note(f"line {n}" for n in range(25))
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("note: line") == output.SHOWN_NOTICES
    assert "and 5 more" in printed.err


def test_nothing_of_what_is_shown_is_obeyed(capsys):
    text = "\x1b[31mred\x07\x9b\udc80\tend"
    table = Table()
    table.add_column(text)
    table.add_row(Text(text))
    for console in (output.results(), output.errors()):
        for shown in (text, Text(text), table):
            console.print(shown, markup=False)
    output.note([text])
    output.print_json({text: text})
    printed = capsys.readouterr()
    for stream in printed:
        assert "red" in stream
        assert not {"\x1b", "\x07", "\x9b", "\udc80", "\t"} & {*stream}
    assert json.loads(printed.out.splitlines()[-1]) == {text: text}


def test_what_the_library_logs_is_a_note(run, tmp_path, monkeypatch):
    def logs(_):
        logging.getLogger("trigner.pipeline").warning("of %s", "\x1b[31mred")
        raise InputError("no more")

    monkeypatch.setattr("trigner.cli.info.read_description", logs)
    lines = [run("info").err.splitlines() for _ in range(2)]
    assert lines == 2 * [["note: of \ufffd[31mred", "error: no more"]]


def test_refuse_non_empty(tmp_path):
    output.refuse_non_empty(tmp_path / "absent")
    output.refuse_non_empty(tmp_path)
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file"):
        with pytest.raises(InputError):
            output.refuse_non_empty(path)


def test_what_is_there_may_be_overwritten_when_asked(tmp_path, refused):
    file = tmp_path / "file"
    file.write_text("")
    with refused("file"):
        output.refuse_non_empty(file)
    with refused("file"):
        output.refuse_non_empty(file, overwrite=False)
    output.refuse_non_empty(file, overwrite=True)
    output.refuse_non_empty(tmp_path, overwrite=True)
    with refused("file"):
        output.refuse_non_empty(file / "new", overwrite=True)


@pytest.mark.parametrize(
    ("command", "needs", "name"),
    [
        ("convert {gold} {out} --to grid", None, ""),
        ("convert {gold} {out} --to brat", None, "two.ann"),
        ("convert {gold} {out} --to cas", None, "two.xmi"),
        ("link {gold} --vocabulary {vocabulary} --out {out}", "rapidfuzz", ""),
        ("link {gold} --vocabulary {vocabulary} --out {out} --format brat", "rapidfuzz", "two.txt"),
        ("score --gold {gold} --pred {gold} --html {out}", None, ""),
        ("evaluate --data {gold} --model {model} --html {out}", None, ""),
        ("stats {gold} --plot {out}", "matplotlib", ""),
        ("find-threshold --data {gold} --model {model} --plot {out}", "matplotlib", ""),
        ("extract {gold} --model {model} --format grid --out {out}", None, ""),
    ],
)
def test_a_file_that_appears_meanwhile_stays(
    run, gold, model, tmp_path, monkeypatch, command, needs, name
):
    if needs is not None:
        pytest.importorskip(needs)
    vocabulary = tmp_path / "codes.csv"
    vocabulary.write_text("code,name\nF1,leg pain\n")
    out = tmp_path / "out.svg"
    theirs = out / name
    publish = atomic_files.publish

    def late(written, path, *, overwrite):
        if path == theirs:
            theirs.write_text("theirs")
        publish(written, path, overwrite=overwrite)

    monkeypatch.setattr(atomic_files, "publish", late)
    given = [
        part.format(gold=gold, model=model, out=out, vocabulary=vocabulary)
        for part in command.split()
    ]
    result = run(*given)
    assert (result.code, "has appeared meanwhile" in result.err) == (1, True), result.err
    assert theirs.read_text() == "theirs"
    result = run(*given, "--overwrite")
    assert result.code == 0, result.err
    assert theirs.read_text() != "theirs"


def test_only_what_may_be_of_an_earlier_run_is_replaced(tmp_path, refused):
    (tmp_path / "below").mkdir()
    names = ["a.txt", "below/b.ANN"]
    for name in names:
        (tmp_path / name).write_text("")
    found = output.files_to_replace(tmp_path, (".txt", ".ann"))
    assert [path.relative_to(tmp_path).as_posix() for path in found] == names
    (tmp_path / ".new.0f.tmp").mkdir()
    for left in (".new.0f.tmp/a.txt", ".new.0f.tmp/.b.txt.0f.tmp"):  # of a killed process
        (tmp_path / left).write_text("")
    assert len(output.files_to_replace(tmp_path, (".txt", ".ann"))) == 4
    (tmp_path / "link.txt").symlink_to(tmp_path / "below")
    with refused("link.txt"):
        output.files_to_replace(tmp_path, (".txt", ".ann"))


def test_work_that_counts_itself_is_shown_now_and_then(monkeypatch, capsys):
    with output.counting("extracting") as show:
        show(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(output, "SECONDS_BETWEEN_LINES", 0)
    with output.counting("extracting") as show:
        show(1000, 2000, " characters")
        show(1, None)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["extracting: 1,000 of 2,000 characters", "extracting: 1"]


def test_lists_and_progress():
    assert output.comma_list(None) is None
    assert output.comma_list("A, B,") == ["A", "B"]
    assert list(output.progress([1, 2], total=2, what="counting")) == [1, 2]


def test_away_from_a_terminal_progress_is_a_line_now_and_then(monkeypatch, capsys):
    assert list(output.progress(range(3), total=3, what="counting")) == [0, 1, 2]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(output, "SECONDS_BETWEEN_LINES", 0)
    list(output.progress(range(1200), total=1200, what="counting"))
    list(output.progress(range(2), total=None, what="reading"))
    lines = capsys.readouterr().err.splitlines()
    assert lines[1199] == "counting: 1,200 of 1,200"
    assert lines[1200:] == ["reading: 1", "reading: 2"]


@pytest.mark.parametrize(("total", "shown"), [(3, "3/3"), (None, "3/?")])
def test_on_a_terminal_progress_is_a_bar_with_a_count(monkeypatch, capsys, total, shown):
    drawn = io.StringIO()
    console = Console(file=drawn, force_terminal=True, width=80)
    monkeypatch.setattr(output, "errors", lambda: console)
    for number in output.progress((n for n in range(3)), total=total, what="counting"):
        print(number)
    assert shown in drawn.getvalue()
    assert "counting" in drawn.getvalue()
    # Results in a pipe are not drawn on the terminal.
    assert capsys.readouterr().out == "0\n1\n2\n"


@pytest.mark.parametrize(("columns", "width"), [("120", 120), ("60", 60), (None, 80)])
def test_in_a_pipe_output_is_as_wide_as_columns_says_or_80(columns, width):
    code = "from trigner.cli.output import results; print(results().width)"
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    if columns is not None:
        environment["COLUMNS"] = columns
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) == width


def of_process(*arguments, **environment):
    """What the command line prints, in bytes."""
    done = subprocess.run(
        [sys.executable, "-m", "trigner", *map(str, arguments)],
        env={**os.environ, "PYTHONUTF8": "0", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    return done.stdout


def test_what_an_encoding_does_not_have_is_replaced_and_in_json_escaped(tmp_path):
    path = tmp_path / "a.jsonl"
    entity = {"label": "ADR", "fragments": [[0, 4], [9, 13]]}
    text = "naïv ≥👍  rash"
    path.write_text(json.dumps({"id": "≥", "text": text, "entities": [entity]}) + "\n", "utf-8")
    shown = of_process("stats", path, PYTHONIOENCODING="latin-1")
    assert b"all" in shown
    lost = ("ceiling", "--data", path, "--system", "bio", "--lost", "1")
    assert "naïv ~ rash".encode("latin-1") in of_process(*lost, PYTHONIOENCODING="latin-1")
    (found,) = json.loads(of_process(*lost, "--json", PYTHONIOENCODING="cp1252"))["bio"][
        "lost_entities"
    ]
    assert found["document"] == "≥"


def test_a_wide_character_is_replaced_by_as_many_columns_and_by_what_is_asked_for(tmp_path):
    text = "頭e\u0301 rash"
    entity = {"label": "ADR", "fragments": [[4, 8], [0, 1]]}
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "text": text, "entities": [entity]}))
    lost = ("ceiling", "--data", tmp_path / "a.jsonl", "--system", "bio", "--lost", "1")
    assert b"rash" in of_process(*lost, PYTHONIOENCODING="ascii")
    assert b"?? ~ rash" in of_process(*lost, PYTHONIOENCODING="ascii")
    asked = of_process(*lost, PYTHONIOENCODING="ascii:backslashreplace")
    assert b"\\u982d \\u2026 rash" in asked


def test_a_closed_output_is_no_error(tmp_path):
    command = f"{sys.executable} -m trigner info --systems --json >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_in_few_columns_tables_keep_the_names_of_rows(tmp_path):
    path = tmp_path / "a.jsonl"
    entity = {"label": "ADR", "fragments": [[0, 4]]}
    path.write_text(json.dumps({"id": "a", "text": "rash", "entities": [entity]}) + "\n")
    shown = of_process("ceiling", "--data", path, "--system", "mac", COLUMNS="40").decode()
    assert "mac " in shown
