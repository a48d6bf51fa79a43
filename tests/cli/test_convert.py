from __future__ import annotations

import json
import os
import stat

import pytest


@pytest.mark.parametrize("format", ["jsonl", "bigbio", "grid", "inline"])
def test_there_and_scored_again(run, gold, tmp_path, format):
    target = tmp_path / "converted.x"
    result = run("convert", gold, target, "--to", format)
    assert result.code == 0, result.err
    assert "3 documents" in result.err
    stats = run("stats", target, "--from", format, "--json")
    assert stats.code == 0, stats.err
    assert json.loads(stats.out)["entities"] == 5


def test_what_a_format_cannot_hold_is_told(run, gold, tmp_path):
    result = run("convert", gold, tmp_path / "x.json", "--to", "grid")
    assert result.code == 0
    assert "note: " in result.err


def test_an_existing_target_is_refused(run, gold, tmp_path):
    (tmp_path / "there.jsonl").write_text("")
    result = run("convert", gold, tmp_path / "there.jsonl", "--to", "jsonl")
    assert (result.code, "already exists" in result.err) == (2, True)


def test_unknown_format(run, gold, tmp_path):
    for format, wrong in (("xml", "unknown format 'xml'"), ("cadec", "cadec is read-only")):
        result = run("convert", gold, tmp_path / "x", "--to", format)
        assert result.code == 2
        listed = "writable formats: brat, grid, inline, bigbio, jsonl\n"
        assert result.err == f"error: {wrong}; {listed}"


def test_an_existing_target_is_replaced_when_asked(run, gold, tmp_path):
    target = tmp_path / "there.jsonl"
    target.write_text("old")
    assert run("convert", gold, target, "--to", "jsonl").code == 2
    assert target.read_text() == "old"
    assert run("convert", gold, target, "--to", "jsonl", "--overwrite").code == 0
    assert len(target.read_text().splitlines()) == 3
    assert {path.name for path in tmp_path.iterdir()} == {"gold", "there.jsonl"}


def test_a_folder_is_replaced_and_other_files_are_not(run, gold, tmp_path):
    (gold / "thesis.doc").write_text("mine")
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"id": "new", "text": "pain"}\n')
    given = ("convert", lines, gold, "--to", "brat")
    assert run(*given).code == 2
    result = run(*given, "--overwrite")
    assert (result.code, "thesis.doc: is in the way" in result.err) == (2, True)
    assert (gold / "one.txt").exists()
    (gold / "thesis.doc").unlink()
    assert run(*given, "--overwrite").code == 0
    assert {path.name for path in gold.iterdir()} == {"new.ann", "new.txt"}


def test_into_a_device_and_through_a_link(run, gold, tmp_path):
    assert run("convert", gold, "/dev/null", "--to", "jsonl").code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    (tmp_path / "link").symlink_to("target.json")
    assert run("convert", gold, tmp_path / "link", "--to", "bigbio").code == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target.json").is_file()
