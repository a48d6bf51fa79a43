from __future__ import annotations

import json

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
