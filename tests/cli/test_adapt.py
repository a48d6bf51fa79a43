from __future__ import annotations

from trigner.cli.app import load_command


def test_adapt_then_train(run, gold, encoder, tmp_path):
    out = tmp_path / "adapted"
    base = ["adapt", "--text", gold, "--out", out, "--encoder", encoder]
    result = run(*base, "--dev", gold, "--epochs", "1", "--device", "cpu")
    assert result.code == 0, result.err
    assert "dev loss" in result.out
    assert (out / "config.json").is_file()
    result = run(*base, "--epochs", "1", "--device", "cpu")
    assert result.code == 2


def test_every_option_has_a_help():
    assert [option.name for option in load_command("adapt").params if not option.help] == []


def test_bad_options(run, gold, tmp_path):
    result = run("adapt", "--text", gold, "--out", tmp_path / "a", "--mask-probability", "2")
    assert result.code == 2
    assert "must be below 1" in result.err


def test_a_precision_that_is_none(run, gold, tmp_path):
    result = run("adapt", "--text", gold, "--out", tmp_path / "a", "--precision", "half")
    assert result.code == 2
    assert "--precision must be one of 'float32', 'float16' or 'bfloat16'" in result.err


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
