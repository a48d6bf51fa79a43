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
    assert "skipped: 1 invalid annotation" in run(*command, gold, "--skip-bad").out
    found = json.loads(run(*command, gold, "--json", "--skip-bad").out)
    assert (found if command[0] == "stats" else found["w2ner"])["left_out"] == 1


def test_table_and_plot(run, gold, tmp_path):
    pytest.importorskip("matplotlib")
    result = run("stats", gold, "--plot", tmp_path / "gaps.png")
    assert result.code == 0, result.err
    assert (tmp_path / "gaps.png").read_bytes().startswith(b"\x89PNG")
    assert "3 documents, 4 sentences" in result.out
    assert run("stats", gold, "--plot", tmp_path / "gaps.png").code == 2
    assert run("stats", gold, "--plot", tmp_path / "gaps.png", "--overwrite").code == 0


def test_an_empty_folder(run, tmp_path, wording):
    result = run("stats", tmp_path)
    assert result.code == 2
    wording(result.err)
    (tmp_path / "picture.png").write_bytes(b"")
    assert "contains no file in a known format" in run("stats", tmp_path).err
    assert f"{tmp_path}: contains no .jsonl file" in run("stats", tmp_path, "--from", "jsonl").err


def test_a_figure_in_a_new_folder_and_where_none_can_be(run, gold, tmp_path):
    pytest.importorskip("matplotlib")
    assert run("stats", gold, "--plot", tmp_path / "new" / "gaps.png").code == 0
    assert (tmp_path / "new" / "gaps.png").exists()
    (tmp_path / "file").write_text("")
    result = run("stats", gold, "--plot", tmp_path / "file" / "gaps.png")
    assert (result.code, result.out) == (1, "")
    assert f"cannot write {tmp_path / 'file' / 'gaps.png'}" in result.err
    result = run("stats", gold, "--plot", tmp_path / "gaps.xyz")
    assert (result.code, result.out) == (2, "")


@pytest.mark.parametrize("command", [("stats",), ("ceiling", "--system", "bio", "--data")])
def test_types_that_differ_only_in_case_are_told(run, gold, command):
    assert "differ only in case" not in run(*command, gold).err
    (gold / "three.ann").write_text("T1\tADr 3 7\tpain\n")
    told = f"note: {gold}: types that differ only in case: ADR (4), ADr (1)\n"
    assert run(*command, gold).err.count(told) == 1
    assert "differ only" not in run(*command, gold, "--map-labels", "ADr=ADR").err


def test_one_type_is_named(run, gold):
    rows = [line.split() for line in run("stats", gold, "--types", "Drug").out.splitlines()]
    assert [row[0] for row in rows if row[1:2] == ["1"]] == ["Drug", "all"]
