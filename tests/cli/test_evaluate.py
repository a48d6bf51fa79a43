from __future__ import annotations

import json
import shutil

import pytest

from model_changes import change_description
from tiny_language_models import tiny_language_model
from trigner.models.folder import Description, save_model
from trigner.systems.registry import system_spec
from trigner.training.settings import resolve

FORMATS = {
    "transition": (["model.actions=paper"], [0, 1, 1, 1]),
    "spans": (["model.max_width=3"], [1, 0, 0, 0]),
    "spans as stars": (["model.reading=stars"], [0, 0, 0, 4]),
    "seq2seq": (["model.length_base=5", "model.length_ratio=0"], [1, 1, 1, 3]),
    "generative": (["model.length_base=5", "model.length_ratio=0"], [1, 1, 1, 3]),
    "hypergraph": (["model.graph=shared"], [0, 0, 2, 0]),
}
"""Settings of a system, and how many mentions of each of `SETS` they lose; the defaults lose none.

By hand: the paper's actions share no two parts that cross; a star is a fragment with all that it
has relations with; five tokens are one mention of up to three words; of crossing pairs the shared
graph knows their edges alone.
"""
SETS = ([(0, 1, 2, 3)], [(0, 1, 4), (0, 3, 4)], [(0, 3), (1, 4)], [(0, 2), (0, 6), (2, 4), (4, 6)])


@pytest.mark.parametrize("format", ["brat", "jsonl", "bigbio"])
def test_evaluate_and_extract_with_score_agree_exactly(run, model, gold, tmp_path, format):
    evaluated = run("evaluate", "--model", model, "--data", gold, "--json")
    assert evaluated.code == 0, evaluated.err
    scores = json.loads(evaluated.out)
    assert scores["overall"]["gold"] == 5
    assert scores["overall"]["predicted"] > 0
    out = tmp_path / ("found" if format == "brat" else "found.json")
    extracted = run("extract", gold, "--model", model, "--format", format, "--out", out)
    assert extracted.code == 0, extracted.err
    scored = run("score", "--gold", gold, "--pred", out, "--json", "--pred-from", format)
    assert scored.code == 0, scored.err
    again = json.loads(scored.out)
    assert scores.pop("unreachable_by") == {"w2ner": 0}
    assert scores.pop("bounded") == 0
    if format != "jsonl":  # which alone of these holds scores
        assert 0 < scores.pop("calibration_error") < 1
    # The model's settings are known to one of the two only.
    assert again.pop("signature").startswith("data:")
    assert scores.pop("signature").startswith("data:")
    assert again == scores


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "--model", "MODEL", "--data"),
        ("find-threshold", "--model", "MODEL", "--data"),
        ("score", "--pred", "GOLD", "--gold"),
        ("ceiling", "--data"),
        ("stats",),
    ],
    ids=lambda command: command[0],
)
def test_repeated_annotations_are_told(run, model, gold, command):
    places = {"MODEL": model, "GOLD": gold}
    line = [places.get(part, part) for part in command]
    assert "repeat" not in run(*line, gold).err
    with (gold / "two.ann").open("a") as file:
        file.write("T8\tDrug 55 61\ttablet\nT9\tADR 31 34;40 44\tleg numb\n")
    told = f"{gold}: 2 annotations repeat another one: counted once in scores"
    assert run(*line, gold).err.count(told) == (2 if command[0] == "score" else 1)


def test_the_table(run, model, gold):
    printed = run("evaluate", "--model", model, "--data", gold).out
    for row in ("overall", "discontinuous", "continuous"):
        assert row in printed


def test_unknown_labels_count_as_missed_and_are_told(run, model, gold):
    (gold / "one.ann").write_text("T1\tDisease 3 11;12 16\tleft leg hurt\n")
    result = run("evaluate", "--model", model, "--data", gold, "--json")
    assert result.code == 0
    assert "1 entity of type Disease, unknown to the model" in result.err
    assert json.loads(result.out)["per_type"]["Disease"]["overall"]["gold"] == 1


def test_what_is_no_model(run, gold, tmp_path, wording):
    (tmp_path / "foreign").mkdir()
    result = run("evaluate", "--model", tmp_path / "foreign", "--data", gold)
    assert result.code == 2
    wording(result.err)
    assert "Traceback" not in result.err


def test_bad_annotation_names_file_and_line_or_is_skipped(run, model, gold, wording):
    with (gold / "one.ann").open("a") as file:
        file.write("T2\tADR 5 900\tnothing\n")
    result = run("evaluate", "--model", model, "--data", gold)
    assert result.code == 2
    assert "one.ann:2" in result.err
    wording(result.err)
    result = run("evaluate", "--model", model, "--data", gold, "--skip-bad")
    assert result.code == 0
    assert "one.ann:2" in result.err
    assert "1 invalid annotation skipped" in result.out


def test_types_hold_for_predictions_too(run, model, gold):
    result = run("evaluate", "--model", model, "--data", gold, "--types", "Drug", "--json")
    assert list(json.loads(result.out)["per_type"]) == ["Drug"]


def test_a_type_that_nobody_has_is_refused(run, model, gold, wording):
    result = run("evaluate", "--model", model, "--data", gold, "--types", "Foo")
    assert result.code == 2
    assert "--types" in result.err
    wording(result.err)


def test_data_without_annotations_are_told(run, model, gold):
    for path in gold.glob("*.ann"):
        path.unlink()
    result = run("evaluate", "--model", model, "--data", gold)
    assert result.code == 0
    assert "no annotation to score against" in result.err


def test_annotations_in_no_window_are_told(run, model, tmp_path):
    words = ["my", "arm"] * 40
    item = {"sentence": words, "ner": [{"index": [2, 70], "type": "ADR"}]}
    path = tmp_path / "long.json"
    path.write_text(json.dumps([item]))
    result = run("evaluate", "--model", model, "--data", path)
    assert "1 annotation in no window of a long sentence: counted as missed" in result.err


def test_the_first_sentences_may_be_left_out_of_the_counts(run, model, gold, tmp_path):
    """They are: `my left leg hurt.` and `no pain.` of the first document."""
    arguments = ["evaluate", "--model", model, "--data", gold, "--json"]
    whole = json.loads(run(*arguments).out)["overall"]
    result = run(*arguments, "--skip-first", 2)
    assert "not counted: the first 2 sentences" in result.err
    part = json.loads(result.out)["overall"]
    assert (whole["gold"], part["gold"]) == (5, 4)
    assert part["predicted"] < whole["predicted"]
    assert run(*arguments, "--skip-first", -1).code == 2


@pytest.mark.parametrize("case", FORMATS)
def test_out_of_reach_is_what_the_models_own_settings_lose(run, case, encoder, tmp_path):
    system, (assignments, lost) = case.partition(" ")[0], FORMATS[case]
    if system == "generative":
        encoder = tiny_language_model(tmp_path / "encoder", "llama")
    for name, given, expected in (("own", assignments, lost), ("default", [], [0, 0, 0, 0])):
        folder = untrained(system, encoder, given, tmp_path / name)
        for number, (words, count) in enumerate(zip(SETS, expected, strict=True)):
            ner = [{"index": list(each), "type": "ADR"} for each in words]
            path = tmp_path / f"{number}.json"
            path.write_text(json.dumps([{"sentence": ["leg"] * 7, "ner": ner}]))
            result = run("evaluate", "--model", folder, "--data", path, "--json")
            assert result.code == 0, result.err
            assert json.loads(result.out)["unreachable_by"] == {system: count}, (name, words)


def untrained(system, encoder, assignments, folder):
    """The folder of a fresh model."""
    settings = resolve(options={"system": system, "encoder": str(encoder)}, assignments=assignments)
    made = system_spec(system).implementation("build")(settings, ("ADR",))
    state = made.saved_state()
    description = Description(
        system=system,
        labels=("ADR",),
        model=settings.model.model_dump(mode="json"),
        state=dict(state.state),
        files={},
    )
    save_model(folder, description, state.files)
    return folder


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ("dev", "epoch was chosen by its scores on these documents: it may score lower on"),
        ("train", "the model was trained on these documents: its scores on others will be"),
    ],
)
def test_documents_that_the_model_was_made_with_are_told(run, model, gold, tmp_path, part, told):
    arguments = ("evaluate", "--data", gold, "--json", "--model")
    before = run(*arguments, model)
    assert "these documents" not in before.err
    signature = json.loads(before.out)["signature"]
    folder = shutil.copytree(model, tmp_path / "model")
    change_description(folder, provenance={part: {"signature": signature}})
    result = run(*arguments, folder)
    assert result.code == 0, result.err
    assert told in " ".join(result.err.split())
    (gold / "two.ann").write_text("")
    assert "these documents" not in run(*arguments, folder).err
