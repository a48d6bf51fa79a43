"""The example package `examples/own-system`: every command works with a system from outside.

Installed as pip would leave it: its modules and its metadata, entry point included, on the path.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import trigner
from installed_systems import look_again
from trigner.models.folder import read_description
from trigner.serving.app import create_app
from trigner.systems.registry import system_spec, systems
from trigner.training.settings import resolve

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "examples" / "own-system"
DATA = ROOT / "data" / "mini-adr"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder as pip leaves it after installing the example."""
    folder = tmp_path_factory.mktemp("site")
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    (folder / "trigner_dictionary").symlink_to(PACKAGE / "src" / "trigner_dictionary")
    metadata = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = project["entry-points"]
    lines = [
        f"[{g}]\n" + "\n".join(f"{n} = {v}" for n, v in own.items()) for g, own in groups.items()
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(autouse=True)
def installed(site, monkeypatch):
    """The example is installed for the length of a test."""
    monkeypatch.syspath_prepend(str(site))
    look_again()
    yield
    monkeypatch.undo()
    look_again()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where its model is once it is trained."""
    return tmp_path_factory.mktemp("model") / "dictionary"


@pytest.fixture
def model(run, folder):
    """The folder of a model that `trigner train` made."""
    if not folder.exists():
        options = ("--train", DATA / "train", "--dev", DATA / "dev", "--out", folder)
        result = run("train", "--system", "dictionary", *options, "--set", "model.window=6")
        assert result.code == 0, result.err
        assert "the system has no weights to update" in result.err
    return folder


def test_it_is_one_of_the_systems_without_a_change_in_the_package(run):
    assert "dictionary" in systems()
    assert system_spec("dictionary").package == "trigner-dictionary"
    shown = json.loads(run("info", "--systems", "--json").out)
    assert shown["dictionary"]["can"] == []
    assert shown["w2ner"]["package"] == "trigner"
    result = run("train", "--system", "dictionry", "--train", DATA / "train", "--out", "model")
    assert result.code == 2
    names = result.err.partition("known are: ")[2].split()
    assert "dictionary" in {name.strip(",") for name in names}


def test_it_finds_what_it_has_learnt_discontinuous_mentions_too(run, model, tmp_path):
    scores = json.loads(run("evaluate", "--model", model, "--data", DATA / "train", "--json").out)
    assert scores["overall"]["recall"] > 0.8
    assert scores["discontinuous"]["correct"] > 20
    assert scores["unreachable"] >= 0
    found = tmp_path / "found"
    result = run("extract", DATA / "train", "--model", model, "--format", "brat", "--out", found)
    assert result.code == 0, result.err
    again = json.loads(run("score", "--gold", DATA / "train", "--pred", found, "--json").out)
    assert again["overall"] == scores["overall"]


def test_its_model_says_what_it_is(run, model):
    result = run("info", model, "--json")
    assert result.code == 0, result.err
    shown = json.loads(result.out)
    assert (shown["system"], shown["package"]) == ("dictionary", "trigner-dictionary")
    assert shown["model"] == {"window": 6, "least": 1}
    assert "interrupted" not in result.err
    summary = run("info", model).out
    assert "MB, trigner-dictionary)" in summary
    # It reads no encoder, whatever the settings name.
    assert "encoder" not in summary


def test_it_is_served(model):
    extract = trigner.load(model)
    with TestClient(create_app(extract, description=read_description(model))) as client:
        about = client.get("/v1/model").json()
        assert (about["system"], about["tags"]) == ("dictionary", [])
        text = "Severe headache and nausea."
        answer = client.post("/v1/extract", json={"text": text}).json()
        assert [e["text"] for e in answer["entities"]] == [e.text for e in extract(text).entities]
        grid = client.post("/v1/grid", json={"text": text})
        assert grid.status_code == 422
        assert "the system dictionary cannot show the word-pair grid" in grid.json()["detail"]


@pytest.mark.parametrize(
    "command",
    [
        ["ceiling", "--data", DATA / "dev", "--system", "dictionary"],
        ["export", "--model", "MODEL", "--out", "OUT"],
        ["train", "--train", DATA / "dev", "--out", "OUT", "--init-from", "MODEL"],
        [*["train", "--train", DATA / "dev", "--out", "OUT", "--system", "dictionary"]]
        + ["--set", "optimisation.epochs=3"],
    ],
)
def test_what_it_cannot_do_is_one_sentence(run, model, tmp_path, command, wording):
    places = {"MODEL": model, "OUT": tmp_path / "out"}
    result = run(*(places.get(str(part), part) for part in command))
    assert result.code == 2
    wording(result.err)
    assert len(result.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--set", "model.bogus=1"],
        ["--set", "optimisation.epochs=1"],
        ["--set", "model.channels=1"],
        ["--set", "model.window=0"],
    ],
)
def test_settings_that_it_does_not_have_are_named(run, tmp_path, options, wording):
    out = tmp_path / "out"
    command = ("train", "--system", "dictionary", "--train", DATA / "dev", "--out", out)
    result = run(*command, *options)
    assert result.code == 2
    wording(result.err)


def test_what_it_does_not_read_changes_nothing():
    settings = [
        resolve(preset=preset, options={"system": "dictionary"}) for preset in ("clean", "best")
    ]
    assert settings[0].identity() == settings[1].identity()
    # Training makes sentences of its own by this, whatever the system.
    assert [own.sampling.coordination for own in settings] == [0, 0]


def test_a_study_compares_it_with_w2ner(run, encoder, tmp_path):
    study = tmp_path / "both.yaml"
    study.write_text(
        "title: Both\nseeds: [1]\nbase: {optimisation.epochs: 1, optimisation.batch_size: 8}\n"
        "systems:\n  dictionary: {system: dictionary, model.window: 5}\n"
        "  w2ner: {model.lstm_size: 8, model.channels: 4, model.pair_size: 6, model.grid_size: 5}\n"
        "report: {baseline: w2ner}\n"
    )
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for part in ("train", "dev", "test"):
        (corpus / part).symlink_to(DATA / "dev")
    options = ("--data", f"small={corpus}", "--results", tmp_path / "results")
    result = run(
        *("study", "run", study, *options, "--encoder", encoder, "--out", tmp_path / "work")
    )
    assert result.code == 0, result.err
    kept = [
        json.loads(p.read_text())["run"] for p in (tmp_path / "results" / "small").glob("*.json")
    ]
    by_system = {one["system"]: one for one in kept}
    assert by_system.keys() == {"dictionary", "w2ner"}
    settings = by_system["dictionary"]["settings"]
    assert settings["model.window"] == 5
    assert not [name for name in settings if name.startswith(("optimisation", "encoder"))]
    report = run("study", "report", study, *options, "--to", tmp_path / "report")
    assert report.code == 0, report.err
    assert "dictionary" in (tmp_path / "report" / "report.md").read_text()


def test_a_model_whose_system_is_not_installed_says_so(model, monkeypatch, site, refused):
    monkeypatch.undo()
    look_again()
    with refused("trigner.json"):
        trigner.load(model)
