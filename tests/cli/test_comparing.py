from __future__ import annotations

import json
import shutil

import pytest

from trigner.cli.comparing import check_page


@pytest.fixture
def pred(gold, tmp_path):
    """Predictions with one entity of `two` cut short and one missing."""
    folder = tmp_path / "pred"
    shutil.copytree(gold, folder)
    (folder / "two.ann").write_text("T1\tADR 0 9\tnumb left\nT4\tDrug 55 61\ttablet\n")
    return folder


def test_kinds_of_errors_add_up_to_the_scores(run, gold, pred):
    result = run("score", "--gold", gold, "--pred", pred, "--json", "--errors")
    told = json.loads(result.out)
    errors = told["errors"]
    assert errors["correct"] == {"gold": 2, "predicted": 2}
    assert errors["boundary"] == {"gold": 1, "predicted": 1}
    assert errors["missed"] == {"gold": 2, "predicted": 0}
    for side in ("gold", "predicted"):
        assert sum(count[side] for count in errors.values()) == told["overall"][side]
    table = run("score", "--gold", gold, "--pred", pred, "--errors").out
    assert ["boundary", "1", "1"] in [line.split() for line in table.splitlines()]
    assert "errors" not in json.loads(run("score", "--gold", gold, "--pred", pred, "--json").out)


def test_the_page(run, gold, pred, model, tmp_path, wording):
    page = tmp_path / "errors.html"
    result = run("score", "--gold", gold, "--pred", pred, "--html", page)
    assert result.code == 0, result.err
    assert "numb left" in page.read_text("utf-8")
    assert str(page) in result.err
    result = run("score", "--gold", gold, "--pred", pred, "--html", page)
    assert result.code == 2
    wording(result.err)
    page.write_text("old")
    result = run("score", "--gold", gold, "--pred", pred, "--html", page, "--overwrite")
    assert result.code == 0, result.err
    assert "numb left" in page.read_text("utf-8")
    page = tmp_path / "model.html"
    result = run("evaluate", "--model", model, "--data", gold, "--errors", "--html", page)
    assert result.code == 0, result.err
    assert "spurious" in result.out
    assert page.is_file()


def test_a_folder_is_no_page(tmp_path, refused):
    check_page(None)
    check_page(tmp_path / "new.html")
    with refused(tmp_path):
        check_page(tmp_path)
