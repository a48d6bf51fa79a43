from __future__ import annotations

import json

import pytest


def test_json(run, gold):
    statistics = json.loads(run("stats", gold, "--json").out)
    assert statistics["documents"] == 3
    assert statistics["entities"] == 5
    assert statistics["discontinuous"]["n"] == 3
    assert statistics["continuous"]["n"] == 2


@pytest.mark.parametrize("command", [("stats",), ("ceiling", "--data")])
def test_annotations_left_out_are_counted(run, gold, command):
    with (gold / "one.ann").open("a") as file:
        file.write("T8\tADR 5 900\tnothing\n")
    assert "1 annotations left out" in run(*command, gold, "--skip-bad").out
    found = json.loads(run(*command, gold, "--json", "--skip-bad").out)
    assert (found if command[0] == "stats" else found["w2ner"])["left_out"] == 1


def test_table_and_plot(run, gold, tmp_path):
    pytest.importorskip("matplotlib")
    result = run("stats", gold, "--plot", tmp_path / "gaps.png")
    assert result.code == 0, result.err
    assert (tmp_path / "gaps.png").read_bytes().startswith(b"\x89PNG")
    assert "3 documents, 4 sentences" in result.out


def test_an_empty_folder(run, tmp_path):
    result = run("stats", tmp_path)
    assert result.code == 2
    assert str(tmp_path) in result.err


def test_a_figure_that_cannot_be_written(run, gold, tmp_path):
    result = run("stats", gold, "--plot", tmp_path / "nowhere" / "gaps.png")
    assert result.code == 1
    assert "nowhere" in result.err
