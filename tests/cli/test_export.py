from __future__ import annotations

import json
import os

import pytest

from trigner.families.tagging import exporting
from trigner.machine import atomic_files


def test_evaluate_agrees_on_the_model_and_its_export(run, model, gold, tmp_path, wording):
    done = run("export", "--model", model, "--out", tmp_path / "small")
    assert done.code == 0, done.err
    assert f"model: {tmp_path / 'small'}" in done.out
    before = json.loads(run("evaluate", "--model", model, "--data", gold, "--json").out)
    after = json.loads(run("evaluate", "--model", tmp_path / "small", "--data", gold, "--json").out)
    assert before["overall"]["predicted"] > 0
    assert after == before
    assert json.loads(run("info", tmp_path / "small", "--json").out)["runtime"]["max_subwords"] > 0
    again = run("export", "--model", model, "--out", tmp_path / "small", "--int8")
    assert again.code == 2
    wording(again.err)


def test_out_that_is_no_folder_is_refused(run, model, wording):
    refused = run("export", "--model", model, "--out", os.devnull, "--overwrite")
    assert refused.code == 2
    wording(refused.err)


def test_a_killed_export_is_finished_by_the_same_command(
    run, model, tmp_path, monkeypatch, wording
):
    out, replace = tmp_path / "small", os.replace
    again = ("export", "--model", model, "--out", out, "--overwrite")
    assert run(*again).code == 0
    (out / f".trigner.json.{'0' * 16}.tmp").write_text("")

    def killed_after(calls):
        left = iter(range(calls))

        def dying(source, target):
            if next(left, None) is None:  # nothing is undone either: the process has gone
                raise KeyboardInterrupt
            replace(source, target)

        return dying

    for calls in range(1, 6):
        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", killed_after(calls))
            with pytest.raises(KeyboardInterrupt):
                exporting.export(model, out, overwrite=True)
        assert not (out / "trigner.json").exists()
        (out / "mine.txt").write_text("mine")
        refused = run(*again)
        assert refused.code == 2
        wording(refused.err)
        (out / "mine.txt").unlink()
        done = run(*again)
        assert done.code == 0, done.err
        files = ["model.onnx", "tokenizer.json", "trigner.json"]
        assert sorted(path.name for path in out.iterdir()) == files


def test_a_folder_of_leftovers_is_as_an_empty_one(run, model, tmp_path):
    (tmp_path / f".a.jsonl.{'0' * 16}.tmp").write_text("")
    assert run("export", "--model", model, "--out", tmp_path, "--overwrite").code == 0


def test_no_export_of_an_export(run, model, tmp_path, wording):
    assert run("export", "--model", model, "--out", tmp_path / "a").code == 0
    result = run("export", "--model", tmp_path / "a", "--out", tmp_path / "b")
    assert result.code == 2
    wording(result.err)


def test_without_the_extra_the_cure_is_told(run, model, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "onnx" else 1)
    result = run("export", "--model", model, "--out", tmp_path / "a")
    assert result.code == 1
    assert "trigner[export]" in result.err


def test_an_exported_model_is_not_exported_again(run, tmp_path, wording):
    refused = run("export", "--model", "bundled", "--out", tmp_path / "again")
    assert refused.code == 2
    wording(refused.err)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "trigner.json"])
def test_a_file_that_appears_meanwhile_stays(run, model, tmp_path, monkeypatch, name):
    out = tmp_path / "out"
    theirs = out / name
    publish = atomic_files.publish

    def late(written, path, *, overwrite):
        if path == theirs:
            theirs.write_text("theirs")
        publish(written, path, overwrite=overwrite)

    monkeypatch.setattr(atomic_files, "publish", late)
    result = run("export", "--model", model, "--out", out)
    assert (result.code, "has appeared meanwhile" in result.err) == (1, True), result.err
    assert [path.name for path in out.iterdir()] == [name]
    assert theirs.read_text() == "theirs"
