from __future__ import annotations

import json

import pytest

from trigner.cli.app import load_command


def test_adapt_then_train(run, gold, encoder, tmp_path):
    out = tmp_path / "adapted"
    base = ["adapt", "--text", gold, "--out", out, "--encoder", encoder]
    result = run(*base, "--dev", gold, "--epochs", "1", "--device", "cpu")
    assert result.code == 0, result.err
    assert "best epoch on dev: 1 of 1" in result.out
    result = run(*base, "--epochs", "1", "--device", "cpu")
    assert result.code == 2
    small = ("lstm_size=8", "channels=4", "pair_size=6", "grid_size=5")
    given = [part for name in small for part in ("--set", f"model.{name}")]
    model = ["--out", tmp_path / "model", "--set", "optimisation.epochs=1", *given]
    result = run("train", "--train", gold, "--encoder", out, *model)
    assert result.code == 0, result.err


def test_json(run, gold, encoder, tmp_path):
    out = tmp_path / "adapted"
    base = ["adapt", "--text", gold, "--out", out, "--encoder", encoder, "--dev", gold]
    result = run(*base, "--epochs", "2", "--device", "cpu", "--json")
    assert result.code == 0, result.err
    told = json.loads(result.out)
    assert told["encoder"] == str(out)
    assert told["epoch"] in (1, 2)
    assert told["dev_loss"] > 0
    again = run(*base, "--epochs", "2", "--device", "cpu", "--json", "--resume")
    assert json.loads(again.out) == told


def test_every_option_has_a_help():
    assert [option.name for option in load_command("adapt").params if not option.help] == []


@pytest.mark.parametrize(
    ("option", "value"),
    [("--mask-probability", "2"), ("--precision", "half"), ("--epochs", "0")],
)
def test_bad_options(run, gold, tmp_path, option, value, wording):
    result = run("adapt", "--text", gold, "--out", tmp_path / "a", option, value)
    assert result.code == 2
    assert option in result.err
    wording(result.err)


def test_bad_text_is_named_with_its_line(run, encoder, tmp_path, wording):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("My leg hurts.")
    (tmp_path / "notes" / "a.ann").write_text("T1\tADR 3 6\tleg\nT2\tADR 3 900\tleg\n")
    result = run(
        "adapt", "--text", tmp_path / "notes", "--out", tmp_path / "a", "--encoder", encoder
    )
    assert result.code == 2
    assert "a.ann:2" in result.err
    wording(result.err)
    assert not (tmp_path / "a").exists()


def test_progress_where_nobody_watches_is_in_lines(run, gold, encoder, tmp_path, monkeypatch):
    monkeypatch.setattr("trigner.cli.output.SECONDS_BETWEEN_LINES", 0)
    told = ["--epochs", "2", "--batch-size", "2", "--device", "cpu", "--precision", "bfloat16"]
    result = run("adapt", "--text", gold, "--out", tmp_path / "a", "--encoder", encoder, *told)
    assert result.code == 0, result.err
    assert "adapting: 2 of 4 updates, epoch 1.0 of 2, dev loss " in result.err
    assert "adapting: 4 of 4 updates, epoch 2.0 of 2, dev loss " in result.err


def test_a_device_that_is_not_there(run, gold, tmp_path):
    for device in ("toaster", "cuda:99"):
        result = run("adapt", "--text", gold, "--out", tmp_path / "a", "--device", device)
        assert result.code == 2
        assert f"no device '{device}'" in result.err
    assert not (tmp_path / "a").exists()
