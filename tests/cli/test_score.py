from __future__ import annotations

import json
import shutil


def test_gold_against_itself(run, gold):
    result = run("score", "--gold", gold, "--pred", gold, "--json")
    assert result.code == 0, result.err
    scores = json.loads(result.out)
    assert set(scores) == {
        "overall",
        "discontinuous",
        "continuous",
        "sentences_with_discontinuous",
        "sentences_without_discontinuous",
        "per_type",
        "unreachable",
        "unreachable_reasons",
        "left_out",
        "signature",
    }
    assert scores["overall"] == {
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
        "correct": 5,
        "predicted": 5,
        "gold": 5,
    }
    assert scores["discontinuous"]["gold"] == 3
    assert "overall" in run("score", "--gold", gold, "--pred", gold).out


def test_columns_are_named_by_options(run, tmp_path):
    table = tmp_path / "a.csv"
    table.write_text("case,narrative\n7,pain in my leg\n")
    given = ("score", "--gold", table, "--pred", table)
    assert "name one with --text-column" in run(*given).err
    result = run(*given, "--text-column", "narrative", "--id-column", "case", "--json")
    assert result.code == 0, result.err


def test_a_document_without_prediction_is_missed_and_named(run, gold, tmp_path):
    found = tmp_path / "found"
    shutil.copytree(gold, found)
    for ending in ("txt", "ann"):
        (found / f"one.{ending}").unlink()
    result = run("score", "--gold", gold, "--pred", found, "--json")
    assert result.code == 0
    assert "no predictions for 1 document: one" in result.err
    scores = json.loads(result.out)
    assert (scores["overall"]["correct"], scores["missing"]) == (4, ["one"])


def test_annotations_left_out_are_counted_on_both_sides(run, gold, tmp_path):
    pred = tmp_path / "pred"
    shutil.copytree(gold, pred)
    for folder in (gold, pred):
        with (folder / "one.ann").open("a") as file:
            file.write("T8\tADR 5 900\tnothing\nT9\tADR 700 900\tnothing\n")
    result = run("score", "--gold", gold, "--pred", pred, "--skip-bad", "--json")
    assert json.loads(result.out)["left_out"] == 4
    assert (
        "4 invalid annotations skipped"
        in run("score", "--gold", gold, "--pred", pred, "--skip-bad").out
    )


def test_other_text_is_refused(run, gold, tmp_path, wording):
    found = tmp_path / "found"
    shutil.copytree(gold, found)
    (found / "three.txt").write_text("no pain after the first tablet\n")
    result = run("score", "--gold", gold, "--pred", found)
    assert result.code == 2
    wording(result.err)


def test_types_hold_for_both_sides(run, gold):
    result = run("score", "--gold", gold, "--pred", gold, "--types", "Drug", "--json")
    scores = json.loads(result.out)
    assert list(scores["per_type"]) == ["Drug"]
    assert scores["overall"]["predicted"] == scores["overall"]["gold"] == 1


def test_sentences_against_their_documents_name_the_cure(run, gold, tmp_path, wording):
    assert run("convert", gold, tmp_path / "pred.json", "--to", "grid").code == 0
    result = run("score", "--gold", gold, "--pred", tmp_path / "pred.json")
    assert result.code == 2
    wording(result.err)
    assert run("convert", gold, tmp_path / "gold.json", "--to", "grid").code == 0
    again = run("score", "--gold", tmp_path / "gold.json", "--pred", tmp_path / "pred.json")
    assert again.code == 0, again.err


def test_unknown_types_are_refused_with_those_that_there_are(run, gold, wording):
    refused = run("score", "--gold", gold, "--pred", gold, "--types", "Unknown,ADR")
    assert refused.code == 2
    assert "--types" in refused.err
    wording(refused.err)


def test_relaxed_scores(run, gold):
    found = json.loads(run("score", "--gold", gold, "--pred", gold, "--relaxed", "--json").out)
    assert set(found["relaxed"]) == {
        *("strict", "exact", "partial", "type", "overlap", "characters", "macro")
    }
    assert all(rates["f1"] == 1 for rates in found["relaxed"].values())
    assert "relaxed" not in json.loads(run("score", "--gold", gold, "--pred", gold, "--json").out)
    assert "characters  100.00" in run("score", "--gold", gold, "--pred", gold, "--relaxed").out
