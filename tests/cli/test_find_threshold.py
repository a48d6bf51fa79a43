from __future__ import annotations

import json

import pytest

ROOM = "trigner.cli.find_threshold"


def test_the_best_threshold_of_each_type(run, model, gold):
    found = json.loads(run("find-threshold", "--model", model, "--data", gold, "--json").out)
    assert set(found) >= {"all types", "ADR", "Drug"}
    plain = json.loads(run("evaluate", "--model", model, "--data", gold, "--json").out)
    best = found["all types"]
    assert best["f1"] >= plain["overall"]["f1"]
    assert 0 <= best["threshold"] <= 1
    assert best["without_threshold"] == plain["overall"]
    table = run("find-threshold", "--model", model, "--data", gold).out
    assert "all types" in table
    assert f"{100 * plain['overall']['f1']:.2f}" in table


def test_annotations_left_out_are_counted(run, model, gold):
    with (gold / "one.ann").open("a") as file:
        file.write("T8\tADR 5 900\tnothing\n")
    asked = ("find-threshold", "--model", model, "--data", gold, "--skip-bad")
    assert "skipped: 1 invalid annotation" in run(*asked).out
    assert json.loads(run(*asked, "--json").out)["all types"]["left_out"] == 1


def test_one_type_alone_stands_there_once(run, model, gold, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(f"{ROOM}.plot_curves", lambda shown, *_, **__: drawn.extend(shown))
    monkeypatch.setattr(f"{ROOM}.check_figure", lambda path: None)
    asked = ("find-threshold", "--model", model, "--data", gold, "--types", "ADR")
    result = run(*asked, "--plot", tmp_path / "curve.png")
    assert [line.split()[0] for line in result.out.splitlines()] == ["type", "ADR"]
    assert drawn == ["ADR"]
    # Predictions of other types are no mistakes then.
    found = json.loads(run(*asked, "--json").out)
    assert found["all types"] == found["ADR"]


def test_a_wanted_precision_that_is_never_reached(run, model, gold):
    for document in gold.glob("*.ann"):
        first = document.with_suffix(".txt").read_text("utf-8")[0]
        document.write_text(f"T1\tADR 0 1\t{first}\n")  # no word
    result = run("find-threshold", "--model", model, "--data", gold, "--precision", "0.9")
    assert result.code == 0, result.err
    assert "never reached" in result.out
    found = run(
        "find-threshold", "--model", model, "--data", gold, "--precision", "0.9", "--json"
    ).out
    assert json.loads(found)["all types"] is None


def test_what_is_not_annotated_has_no_threshold(run, model, gold, wording):
    for document in gold.glob("*.ann"):
        document.write_text("")
    result = run("find-threshold", "--model", model, "--data", gold)
    assert result.code == 2
    wording(result.err)


def test_a_type_with_the_name_of_all_is_refused_before_the_work(run, model, tmp_path):
    entities = [{"label": label, "fragments": [[0, 4]]} for label in ("all types", "ADR")]
    (tmp_path / "gold.jsonl").write_text(
        json.dumps({"id": "a", "text": "Pain.", "entities": entities}) + "\n"
    )
    asked = ("find-threshold", "--model", model, "--data", tmp_path / "gold.jsonl")
    result = run(*asked)
    assert (result.code, "scoring" in result.err) == (2, False)
    assert "a type is called 'all types'" in result.err
    assert run(*asked, "--types", "ADR").code == 0


def test_the_figure(run, model, gold, tmp_path):
    pytest.importorskip("matplotlib")
    result = run(
        "find-threshold", "--model", model, "--data", gold, "--plot", tmp_path / "curve.png"
    )
    assert result.code == 0, result.err
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_types_that_the_model_does_not_know_are_noted(run, model, tmp_path):
    entities = [{"label": label, "fragments": [[0, 4]]} for label in ("Foo", "ADR")]
    (tmp_path / "gold.jsonl").write_text(
        json.dumps({"id": "a", "text": "Pain.", "entities": entities}) + "\n"
    )
    result = run("find-threshold", "--model", model, "--data", tmp_path / "gold.jsonl")
    assert "note: 1 entity of type Foo, unknown to the model: all of them count" in result.err
