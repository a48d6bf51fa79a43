from __future__ import annotations

import json


def test_info(run, model):
    text = run("info", model).out
    assert "scheme: w2ner" in text
    assert json.loads(run("info", model, "--json").out)["labels"] == ["ADR", "Drug"]


def test_no_model(run, tmp_path):
    (tmp_path / "trigner.json").write_text('{"format": 99}')
    result = run("info", tmp_path)
    assert result.code == 2
    assert "model format 99" in result.err
