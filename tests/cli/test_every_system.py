"""What every system of the package can do from the command line, from training to serving."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from starlette.testclient import TestClient

import trigner
from model_changes import accept_files
from trained_models import IN_CONTEXT, SYSTEMS, TEXT
from trained_models import training as small_training
from trigner.corpora import read
from trigner.errors import InputError
from trigner.evaluation import ceiling
from trigner.mentions import Document, Entity
from trigner.models.folder import read_description
from trigner.serving.app import create_app
from trigner.systems.registry import system_spec
from trigner.training.checkpoints import CHECKPOINTS, last_checkpoint
from trigner.training.progress import ShowProgress

WITH_CONTEXT = " with context"
VARIANTS = [*SYSTEMS, *(name + WITH_CONTEXT for name in IN_CONTEXT)]
EXPORTED = [name for name in SYSTEMS if system_spec(name).export]

whatever_the_context = pytest.mark.parametrize("training", SYSTEMS, indirect=True)
"""A mark for what context has nothing to do with."""


@pytest.fixture(scope="module", params=VARIANTS)
def training(request):
    """A small training of each system, and of some in context."""
    name = request.param.removesuffix(WITH_CONTEXT)
    return small_training(name, context=name != request.param)


@pytest.fixture(scope="module")
def made(training, trained):
    """The model of that training, only to be read."""
    return trained(training.system, context=training.context)


@whatever_the_context
def test_an_interrupted_training_ends_with_the_same_weights(training, made, tmp_path, monkeypatch):
    """Interrupted once a checkpoint is there: in the second epoch's evaluation."""
    evaluated = []

    def interrupt(*_, **__):
        evaluated.append(1)
        if len(evaluated) == 2:
            raise KeyboardInterrupt

    folder = tmp_path / "model"
    with monkeypatch.context() as patch:
        patch.setattr(ShowProgress, "on_evaluate", interrupt)
        assert training.run(folder).exit_code == 130
    assert last_checkpoint(folder / CHECKPOINTS) is not None
    result = training.run(folder, "--resume")
    assert result.exit_code == 0, result.output
    one, other = (load_file(each / "model.safetensors") for each in (made.folder, folder))
    assert one.keys() == other.keys()
    for name, values in one.items():
        np.testing.assert_array_equal(values, other[name], err_msg=name)


@whatever_the_context
def test_it_is_trained_in_bfloat16(training, tmp_path):
    """Dev is scored in the training's precision, too."""
    more = ("--set", "optimisation.precision=bfloat16", "--set", "optimisation.epochs=1")
    result = training.run(tmp_path / "model", *more)
    assert result.exit_code == 0, result.output


@whatever_the_context
def test_a_study_runs_it(training, run, tmp_path):
    for part in ("train", "dev", "test"):
        shutil.copytree(training.data / "dev", tmp_path / "small" / part)
    study = tmp_path / "one.yaml"
    study.write_text(f"title: One\nseeds: [1]\nsystems:\n  own: {{system: {training.system}}}\n")
    shared = (study, "--data", tmp_path / "small", "--out", tmp_path / "out")
    small = (*training.settings, "--set", "optimisation.epochs=1")
    given = (*shared, "--encoder", training.encoder, *small)
    result = run("study", "run", *given, "--device", "cpu")
    assert result.code == 0, result.err
    result = run("study", "report", *given, "--to", tmp_path / "report")
    assert result.code == 0, result.err
    assert "| own |" in (tmp_path / "report" / "report.md").read_text()


def test_its_model_is_evaluated_and_extracts(made, run, tmp_path):
    model, dev = made.folder, made.training.data / "dev"
    result = run("evaluate", "--model", model, "--data", dev, "--json")
    assert result.code == 0, result.err
    scores = json.loads(result.out)
    assert scores["overall"]["predicted"] > 0, "nothing is compared below"
    found = tmp_path / "found"
    result = run("extract", dev, "--model", model, "--format", "brat", "--out", found)
    assert result.code == 0, result.err
    again = json.loads(run("score", "--gold", dev, "--pred", found, "--json").out)
    assert again["overall"] == scores["overall"]
    assert made.training.system in run("info", model).out


def test_training_prints_the_scores_that_its_model_has(made, run):
    """Those of the scores at the temperature that it is kept with, too."""
    dev = made.training.data / "dev"
    evaluated = run("evaluate", "--model", made.folder, "--data", dev).out
    assert calibration(evaluated)
    assert calibration(made.printed) == calibration(evaluated)


def calibration(printed):
    return re.findall(r"Calibration error [0-9.]+ %", printed)


def test_results_do_not_depend_on_batch_mates(made):
    documents = read(made.training.data / "train").documents
    together = list(trigner.load(made.folder, batch_size=32).documents(documents))
    alone = trigner.load(made.folder, batch_size=1).documents(documents)
    assert any(own.entities for own in together)
    for a, b in zip(together, alone, strict=True):
        assert [(e.label, e.fragments) for e in a.entities] == [
            (e.label, e.fragments) for e in b.entities
        ]
        for one, other in zip(a.entities, b.entities, strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-4)
            assert 0 <= one.score <= 1


def test_a_sentence_of_400_words_is_read(made):
    extract = trigner.load(made.folder)
    run = extract.documents([Document("long", " ".join(["pain and swollen legs"] * 100))])
    (found,) = run
    assert found.id == "long"
    assert run.statistics.sentences == 1


def test_it_is_served(made):
    extract = trigner.load(made.folder)
    with TestClient(create_app(extract, description=read_description(made.folder))) as client:
        assert client.get("/v1/model").json()["system"] == made.training.system
        answer = client.post("/v1/extract", json={"text": TEXT}).json()
        texts = [e.text for e in extract(TEXT).entities]
        assert texts
        assert [e["text"] for e in answer["entities"]] == texts


def test_thresholds_are_found(made, run):
    dev = made.training.data / "dev"
    result = run("find-threshold", "--model", made.folder, "--data", dev, "--json")
    assert result.code == 0, result.err


@pytest.mark.parametrize("name", [n for n in SYSTEMS if system_spec(n).round_trip])
def test_its_ceiling_is_measured_on_what_it_can_express(name):
    spec = system_spec(name)
    text = "pain in my left leg and nausea"
    spans = [((0, 4),), ((0, 7), (16, 19)), ((24, 30),)]
    gold = tuple(Entity("ADR", s, " ".join(text[a:b] for a, b in s)) for s in (spans[1], spans[2]))
    found = ceiling([Document("a", text, gold)], spec.round_trip(("ADR",), spec.settings()))
    assert found.overall.f1 == 1


@pytest.mark.parametrize(
    "training",
    [
        "w2ner",
        *(pytest.param(n, marks=pytest.mark.slow) for n in EXPORTED if n != "w2ner"),
        *(pytest.param(n + WITH_CONTEXT, marks=pytest.mark.slow) for n in EXPORTED),
    ],
    indirect=True,
)
def test_it_is_exported_with_the_same_entities(made, run, tmp_path):
    result = run("export", "--model", made.folder, "--out", tmp_path / "onnx")
    assert result.code == 0, result.err
    folders = (made.folder, tmp_path / "onnx")
    one, other = (trigner.load(folder)(TEXT).entities for folder in folders)
    assert one
    assert [(e.label, e.fragments) for e in one] == [(e.label, e.fragments) for e in other]


def test_a_model_without_its_weights_is_refused(made, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in made.folder.iterdir():
        if file.is_file() and file.suffix != ".safetensors":
            (copy / file.name).write_bytes(file.read_bytes())
    with pytest.raises(InputError):
        trigner.load(copy)


@pytest.fixture
def without_numbers(made, tmp_path):
    """A copy of a model whose weights are all NaN, with hashes that fit."""
    copy = shutil.copytree(made.folder, tmp_path / "copy")
    weights = load_file(copy / "model.safetensors")
    for values in weights.values():
        if values.dtype.kind == "f":
            values[...] = np.nan
    save_file(weights, copy / "model.safetensors")
    return accept_files(copy)


def test_weights_that_are_no_numbers_are_refused(without_numbers, refused):
    with refused():
        trigner.load(without_numbers)


def test_scores_that_are_no_numbers_are_refused(without_numbers, monkeypatch, refused):
    """Numbers may overflow to NaN, whatever the weights are."""
    monkeypatch.setattr("trigner.families.core.folder.check_numbers", lambda *_: None)
    with refused():
        trigner.load(without_numbers)(TEXT)
