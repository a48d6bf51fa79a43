from __future__ import annotations

import json
import os
import re
import shutil

import pytest

from trigner.systems.registry import own_systems


def test_train_then_use(run, gold, encoder, quick, tmp_path):
    out = tmp_path / "model"
    dev = shutil.copytree(gold, tmp_path / "dev")
    result = run(
        "train", "--train", gold, "--dev", dev, "--out", out, "--encoder", encoder, *quick()
    )
    assert result.code == 0, result.err
    assert "best epoch on dev" in result.out
    assert "epoch 2 of 2" in result.err
    info = json.loads(run("info", out, "--json").out)
    assert info["labels"] == ["ADR", "Drug"]
    assert run("extract", "my leg", "--model", out).code == 0


@pytest.mark.parametrize(
    ("scheme", "changes"),
    [
        ("biohd", {"model.sequence.transitions": True, "model.sequence.layer": "hidden"}),
        ("corro", {"task.partial_labels": "hard", "model.sequence.layer": "bilstm"}),
    ],
)
def test_settings_of_sequence_schemes_train_and_export(
    run, gold, encoder, quick, tmp_path, scheme, changes
):
    """What each scheme does without them is in `test_every_scheme`."""
    out, small = tmp_path / "model", tmp_path / "small"
    chosen = [f"{name}={value}".lower() for name, value in changes.items()]
    base = ["train", "--train", gold, "--dev", gold / "one.txt", "--out", out]
    result = run(*base, "--encoder", encoder, "--system", scheme, *quick(scheme, chosen))
    assert result.code == 0, result.err
    settings = json.loads(run("info", out, "--json").out)["provenance"]["settings"]
    for name, value in changes.items():
        found = settings
        for part in name.split("."):
            found = found[part]
        assert found == value
    assert run("export", "--model", out, "--out", small).code == 0
    before, after = (run("evaluate", "--model", m, "--data", gold, "--json") for m in (out, small))
    assert json.loads(after.out) == json.loads(before.out)


@pytest.mark.parametrize("option", ["--system", "--scheme"])
def test_triplets_are_refused_with_a_sequence_scheme(run, gold, tmp_path, option, wording):
    arguments = [option, "corro", "--set", "triplets.weight=1"]
    result = run("train", "--train", gold, "--out", tmp_path / "m", *arguments)
    assert result.code == 2
    wording(result.err)


def test_a_setting_that_the_system_does_not_read_is_refused(run, gold, tmp_path, wording):
    arguments = ["--system", "corro", "--set", "model.channels=4"]
    result = run("train", "--train", gold, "--out", tmp_path / "m", *arguments)
    assert result.code == 2
    assert "model.channels" in result.err
    wording(result.err)


def test_an_unknown_system_is_answered_with_the_known_ones(run, gold, tmp_path, wording):
    result = run("train", "--train", gold, "--out", tmp_path / "m", "--system", "w2nre")
    assert result.code == 2
    wording(result.err)


def test_without_dev_some_documents_are_held_out_and_named(run, gold, encoder, quick, tmp_path):
    result = run("train", "--train", gold, "--out", tmp_path / "m", "--encoder", encoder, *quick())
    assert result.code == 0, result.err
    assert "held out of 3 documents: " in result.err


def test_a_corpus_with_parts(run, gold, encoder, quick, tmp_path):
    corpus = tmp_path / "corpus"
    shutil.copytree(gold, corpus / "train")
    (corpus / "dev").mkdir()
    for ending in ("txt", "ann"):
        shutil.move(corpus / "train" / f"one.{ending}", corpus / "dev" / f"one.{ending}")
    result = run(
        *("train", "--train", corpus, "--dev", corpus, "--out", tmp_path / "m"),
        *("--encoder", encoder, *quick()),
    )
    assert result.code == 0, result.err
    provenance = json.loads(run("info", tmp_path / "m", "--json").out)["provenance"]
    assert provenance["train"]["documents"] == 2
    assert provenance["dev"]["documents"] == 1


def test_one_path_for_both_without_parts_is_explained(run, gold, tmp_path, wording):
    for dev in (gold, f"{gold}/../{gold.name}"):
        result = run("train", "--train", gold, "--dev", dev, "--out", tmp_path / "m")
        assert result.code == 2
        wording(result.err)


def test_dev_that_was_trained_on_is_told(run, quick, encoder, gold, tmp_path):
    copy = shutil.copytree(gold, tmp_path / "copy")
    result = run(
        *("train", "--train", gold, "--dev", copy, "--out", tmp_path / "m", "--json"),
        *("--encoder", encoder, *quick()),
    )
    assert result.code == 0, result.err
    assert "3 of 3 dev documents are in --train too" in result.err
    assert "epoch 3 of 2" not in result.err
    printed = json.loads(result.out)
    assert printed["model"] == str(tmp_path / "m")
    assert printed["dev"]["overall"]["gold"] == 5


def test_skipped_annotations_of_dev_are_counted_and_the_data_named(
    run, quick, encoder, gold, tmp_path
):
    dev = shutil.copytree(gold, tmp_path / "dev")
    with (dev / "one.ann").open("a") as file:
        file.write("T8\tADR 5 900\tnothing\n")
    base = ["train", "--train", gold, "--dev", dev, "--skip-bad", "--encoder", encoder, *quick()]
    told = json.loads(run(*base, "--out", tmp_path / "m", "--json").out)["dev"]
    asked = ("evaluate", "--model", tmp_path / "m", "--data", dev, "--skip-bad", "--json")
    again = json.loads(run(*asked).out)
    assert (told["left_out"], told["signature"]) == (1, again["signature"])
    assert again["left_out"] == 1
    resumed = run(*base, "--out", tmp_path / "m", "--resume")
    assert "1 invalid annotation skipped" in resumed.out


def test_types(run, gold, encoder, quick, tmp_path, wording):
    dev = shutil.copytree(gold, tmp_path / "dev")
    base = ["train", "--train", gold, "--dev", dev, "--encoder", encoder, *quick()]
    result = run(*base, "--out", tmp_path / "m", "--types", "Drug")
    assert result.code == 0, result.err
    assert json.loads(run("info", tmp_path / "m", "--json").out)["labels"] == ["Drug"]
    result = run(*base, "--out", tmp_path / "n", "--types", "Drug,Dose")
    assert result.code == 2
    wording(result.err)
    assert not (tmp_path / "n").exists()


@pytest.mark.parametrize("options", [[], ["--resume"]])
def test_out_that_is_no_folder_is_refused_before_the_work(run, gold, options):
    result = run("train", "--train", gold, "--out", os.devnull, "--encoder", "minilm", *options)
    assert result.code == 2
    assert result.err == f"error: {os.devnull}: is not a folder: the output is one\n"


def test_out_that_is_not_empty_is_refused(run, gold, tmp_path, wording):
    result = run("train", "--train", gold, "--out", gold)
    assert result.code == 2
    wording(result.err)


def test_bad_settings_and_bad_input(run, gold, tmp_path, wording):
    result = run("train", "--train", gold, "--out", tmp_path / "m", "--set", "triplets.windw=2")
    assert result.code == 2
    assert "triplets.windw" in result.err
    wording(result.err)
    result = run("train", "--train", tmp_path / "absent", "--out", tmp_path / "m")
    assert result.code == 2
    (gold / "two.txt").write_bytes(b"numb \xff\xfe")
    result = run("train", "--train", gold, "--out", tmp_path / "m")
    assert result.code == 2
    assert "two.txt" in result.err
    wording(result.err)
    assert "Traceback" not in result.err


def test_a_dev_label_that_training_never_saw_is_told(run, gold, encoder, quick, tmp_path, wording):
    dev = tmp_path / "dev"
    dev.mkdir()
    (dev / "d.txt").write_text("my rash hurt")
    (dev / "d.ann").write_text("T1\tRash 3 7\trash\n")
    command = ["train", "--train", gold, "--dev", dev, "--out", tmp_path / "m", *quick()]
    result = run(*command, "--encoder", encoder)
    assert result.code == 2
    wording(result.err)
    (dev / "e.txt").write_text("my arm hurt")
    (dev / "e.ann").write_text("T1\tADR 3 11\tarm hurt\n")
    result = run(*command, "--encoder", encoder)
    assert result.code == 0, result.err
    assert "1 dev entity of type Rash, which training never saw" in result.err


def test_starting_from_a_model_needs_no_network_settings(
    run, gold, encoder, model, tmp_path, wording
):
    base = ["train", "--train", gold, "--out", tmp_path / "m", "--init-from", model]
    result = run(*base, "--set", "optimisation.epochs=1", "--device", "cpu")
    assert result.code == 0, result.err
    description = json.loads(run("info", tmp_path / "m", "--json").out)
    assert description["model"] == json.loads((model / "trigner.json").read_text())["model"]
    assert description["provenance"]["init_from"]["model"] == str(model)
    result = run(*base, "--out", tmp_path / "n", "--set", "model.lstm_size=16")
    assert result.code == 2
    wording(result.err)


def test_a_model_learns_from_others(run, gold, encoder, model, quick, tmp_path):
    base = ["train", "--train", gold, "--encoder", encoder, *quick(), "--out", tmp_path / "m"]
    result = run(*base, "--teacher", model, "--teacher", model)
    assert result.code == 0, result.err
    assert "2 teachers read the sentences first" in result.err
    about = json.loads(run("info", tmp_path / "m", "--json").out)
    assert [own["model"] for own in about["provenance"]["teachers"]] == [str(model)] * 2
    result = run(*base, "--out", tmp_path / "n", "--teacher", tmp_path)
    assert result.code == 2
    assert str(tmp_path) in " ".join(result.err.split())


def test_starting_from_a_model_for_other_types(run, gold, model, tmp_path):
    result = run(
        *("train", "--train", gold, "--out", tmp_path / "m", "--init-from", model),
        *("--map-labels", "ADR=AdverseReaction", "--set", "optimisation.epochs=1"),
        *("--device", "cpu"),
    )
    assert result.code == 0, result.err
    told = " ".join(result.err.split())
    assert f"starting from {model}: 3 of 4 tags taken over; AdverseReaction begins with" in told
    assert "begins with the mean of ADR, Drug; left out: ADR" in told
    about = json.loads(run("info", tmp_path / "m", "--json").out)
    assert about["labels"] == ["AdverseReaction", "Drug"]
    assert about["provenance"]["init_from"]["model"] == str(model)


def test_a_preset_is_no_single_setting(run, gold, tmp_path, wording):
    result = run("train", "--train", gold, "--out", tmp_path / "m", "--set", "preset=paper")
    assert result.code == 2
    wording(result.err)


def test_help_says_what_no_window_is(run):
    shown = " ".join(run("train", "--help").out.replace("│", " ").split())
    assert "triplets.window=10 (0 or none: no limit)" in shown


def test_help_names_every_system_of_the_package(run):
    shown = " ".join(run("train", "--help").out.replace("│", " ").split())
    names = re.search(r"System to train: (.*?), or one of an installed package", shown).group(1)
    assert {name.removesuffix(" (default)") for name in names.split(", ")} == set(own_systems())
