from __future__ import annotations

import json

import pytest

from hub_stub import hub  # noqa: F401
from trigner.cli.options import FileOptions, ReadOptions, thresholds
from trigner.errors import InputError


def test_types_filter_entities_not_documents(gold):
    documents = ReadOptions(types="Drug").read(gold).documents
    assert len(documents) == 3
    assert [e.text for d in documents for e in d.entities] == ["tablet"]


def test_no_document_is_an_error(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InputError):
        FileOptions().read(tmp_path / "empty.jsonl")


def test_skipped_annotations_are_told(gold, capsys, refused):
    (gold / "one.ann").write_text("T1\tADR 3 900\tnothing\n")
    with refused("one.ann", 1):
        FileOptions().read(gold)
    assert len(FileOptions(skip_bad=True).read(gold).documents) == 3
    assert "one.ann:1" in capsys.readouterr().err


def test_every_annotation_left_out_is_listed_and_counted(gold, capsys):
    lines = [f"T{n}\tADR 3 {900 + n}\tnothing\n" for n in range(1, 51)]
    (gold / "one.ann").write_text("".join(lines))
    assert FileOptions(skip_bad=True).read(gold).left_out == 50
    told = capsys.readouterr().err
    assert all(f"one.ann:{n}:" in told for n in range(1, 51))
    assert "50 invalid annotations skipped" in told


def test_thresholds_for_all_types_and_for_some():
    assert thresholds("0.5") == (0.5, {})
    assert thresholds("ADR=0.4, 0.1,Drug=1") == (0.1, {"ADR": 0.4, "Drug": 1.0})
    assert thresholds("a=b=0.2") == (0.0, {"a=b": 0.2})
    assert thresholds("ADR=0,0.5") == (0.5, {"ADR": 0.0})


@pytest.mark.parametrize("wrong", ["1.5", "-0.1", "x", "ADR=", "ADR=nan"])
def test_thresholds_that_are_no_numbers_from_0_to_1(wrong, refused):
    with refused():
        thresholds(wrong)


@pytest.mark.parametrize("twice", ["0,1", "ADR=0.4,0.1,ADR=0.5", "0.5, 0.5"])
def test_a_second_threshold_is_refused_for_it_may_be_a_decimal_comma(twice, refused):
    with refused():
        thresholds(twice)


@pytest.mark.parametrize("comma", ["ADR=0,1", "Drug=0.5,ADR=0,1", "ADR=0,0"])
def test_a_decimal_comma_in_the_threshold_of_a_type_is_refused(comma, refused):
    with refused():
        thresholds(comma)


def test_thresholds_of_unknown_types(run, model, wording):
    refused = run("extract", "numb arm", "--model", model, "--threshold", "Dose=0.5")
    assert refused.code == 2
    wording(refused.err)


def test_models_are_fetched_by_their_names_on_the_hub(run, hub, model, gold, tmp_path, wording):  # noqa: F811
    hub.put("ann/adr", model)
    assert run("info", "ann/adr", "--all").out == run("info", model, "--all").out
    text = "my left leg hurt. no pain."
    found = run("extract", text, "--model", "ann/adr", "--format", "jsonl")
    assert found.code == 0
    assert found.out == run("extract", text, "--model", model, "--format", "jsonl").out
    trained = run(
        *("train", "--train", gold, "--out", tmp_path / "further", "--init-from", "ann/adr"),
        *("--set", "optimisation.epochs=1", "--device", "cpu"),
    )
    assert trained.code == 0, trained.err
    absent = run("extract", text, "--model", "ann/none")
    assert absent.code == 2
    wording(absent.err)
    hub.failing = 400
    assert run("info", "ann/other").code == 1


@pytest.mark.parametrize("command", [["extract", "text"], ["serve"], ["evaluate", "--data", "x"]])
@pytest.mark.parametrize("model", ["./ann/missing", "../missing", "ann/missing"])
def test_paths_never_ask_the_hub(run, hub, tmp_path, monkeypatch, command, model):  # noqa: F811
    (tmp_path / "ann").mkdir()
    monkeypatch.chdir(tmp_path)
    hub.repositories["ann/missing"] = {"trigner.json": b"{}"}
    refused = run(*command, "--model", model)
    assert refused.code == 2
    assert refused.err.strip() == f"error: no model folder at {model}"
    assert not hub.fetched


def test_an_encoder_that_is_nowhere_is_refused_at_once(run, gold, tmp_path):
    refused = run("train", "--train", gold, "--out", tmp_path / "m", "--encoder", "./missing")
    assert (refused.code, refused.err) == (2, "error: no encoder folder at ./missing\n")


def test_a_language_model_that_is_nowhere_is_refused_without_naming_encoders(run, gold, tmp_path):
    options = ("--system", "generative", "--encoder", "ann/none")
    refused = run("train", "--train", gold, "--out", tmp_path / "m", *options)
    assert refused.code == 2
    assert refused.err.startswith("error: no language model 'ann/none' on this machine")
    assert "minilm" not in refused.err


def test_what_was_written_as_json(run, gold, tmp_path):
    out = tmp_path / "new.jsonl"
    written = run("convert", gold, out, "--to", "jsonl", "--json")
    assert json.loads(written.out) == {"documents": 3, "files": 1, "path": str(out)}


def test_labels_are_renamed_before_types_are_chosen(run, gold, tmp_path):
    out = tmp_path / "new.jsonl"
    renamed = run("convert", gold, out, "--to", "jsonl", "--map-labels", "ADR=Reaction")
    assert renamed.code == 0, renamed.err
    entities = [e for line in out.read_text().splitlines() for e in json.loads(line)["entities"]]
    assert {e["label"] for e in entities} == {"Reaction", "Drug"}
    read = ReadOptions(map_labels="ADR=Reaction,Drug=Reaction", types="Reaction").read(gold)
    assert sum(len(d.entities) for d in read.documents) == len(entities)
    compared = run("score", "--gold", gold, "--pred", out, "--map-labels", "ADR=Reaction", "--json")
    assert json.loads(compared.out)["overall"]["f1"] == 1


def test_types_that_cannot_be_renamed_are_told(run, gold):
    result = run("stats", gold, "--map-labels", "ADRs=Reaction,ADR=Effect")
    assert result.code == 0, result.err
    assert f"note: {gold}: --map-labels: no entity has the type ADRs\n" in result.err


@pytest.mark.parametrize("wrong", ["ADR", "ADR=", "=X", "ADR=A,ADR=B"])
def test_mappings_that_say_nothing(gold, wrong, refused):
    with refused():
        ReadOptions(map_labels=wrong).read(gold)


def test_labels_with_nothing_in_common_are_refused_with_both_lists(
    run, gold, model, tmp_path, wording
):
    out, new = tmp_path / "new.jsonl", "ADR=Reaction,Drug=Medicine"
    assert run("convert", gold, out, "--to", "jsonl", "--map-labels", new).code == 0
    refused = run("score", "--gold", gold, "--pred", out)
    assert refused.code == 2
    wording(refused.err)
    for command in ("evaluate", "find-threshold"):
        refused = run(command, "--model", model, "--data", out, "--device", "cpu")
        assert refused.code == 2
        wording(refused.err)
        back = "Reaction=ADR,Medicine=Drug"
        given = ("--model", model, "--data", out, "--device", "cpu", "--map-labels", back)
        assert run(command, *given).code == 0
