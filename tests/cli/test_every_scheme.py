"""Every command with every scheme, on small models with random weights."""

from __future__ import annotations

import json
import shutil

import pytest
from starlette.testclient import TestClient

from tiny_models import TAG_SCHEMES, TEXT, save
from trigner.models.folder import read_description
from trigner.pipeline.loading import load
from trigner.serving.app import create_app
from trigner.serving.settings import ServiceSettings
from trigner.systems.registry import system_spec, systems
from trigner.training.checkpoints import CHECKPOINTS, last_checkpoint
from trigner.training.progress import ShowProgress

LOSSY = {"corro", "biohd", "biohd1234", "bio"}
"""Schemes that cannot express every annotation of the small corpus."""


@pytest.fixture(scope="module", params=sorted(TAG_SCHEMES))
def model(request, tiny, tmp_path_factory):
    """The folder of a model that finds something."""
    return save(tiny(request.param), tmp_path_factory.mktemp(request.param) / "model")


def entities(folder, text=TEXT):
    return load(folder, device="cpu")(text).entities


@pytest.mark.parametrize("scheme", sorted(TAG_SCHEMES))
def test_train_resume_and_go_on_from_there(
    run, gold, encoder, quick, tmp_path, monkeypatch, scheme
):
    dev = shutil.copytree(gold, tmp_path / "dev")
    base = ["train", "--train", gold, "--dev", dev]
    chosen = ["--encoder", encoder, "--system", scheme, *quick(scheme)]
    arguments = [*base, "--out", tmp_path / "m", *chosen]

    evaluated = []

    def interrupt(*_, **__):
        evaluated.append(1)
        if len(evaluated) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ShowProgress, "on_evaluate", interrupt)
        assert run(*arguments).code != 0
    assert last_checkpoint(tmp_path / "m" / CHECKPOINTS) is not None
    resumed = run(*arguments, "--resume")
    assert resumed.code == 0, resumed.err
    assert "best epoch on dev" in resumed.out
    told = json.loads(run("info", tmp_path / "m", "--json").out)
    assert told["system"] == told["provenance"]["settings"]["system"] == scheme
    assert told["labels"] == ["ADR", "Drug"]
    assert scheme in LOSSY or "unusable" not in told["provenance"]["train"]
    started = run(
        *(*base, "--out", tmp_path / "n", "--init-from", tmp_path / "m"),
        *("--set", "optimisation.epochs=1", "--device", "cpu"),
    )
    assert started.code == 0, started.err


def test_extract_and_score_agree_with_evaluate(run, model, gold, tmp_path):
    evaluated = run("evaluate", "--model", model, "--data", gold, "--json")
    assert evaluated.code == 0, evaluated.err
    scores = json.loads(evaluated.out)
    assert scores["overall"]["predicted"] > 0
    name = read_description(model).system
    assert set(scores["unreachable_by"]) == {name}
    assert name in LOSSY or scores["unreachable_by"] == {name: 0}
    out = tmp_path / "found"
    assert run("extract", gold, "--model", model, "--format", "brat", "--out", out).code == 0
    scored = json.loads(run("score", "--gold", gold, "--pred", out, "--json").out)
    assert scored["overall"] == scores["overall"]
    assert scored["discontinuous"] == scores["discontinuous"]
    found = run("find-threshold", "--model", model, "--data", gold, "--json")
    assert json.loads(found.out)["all types"]["f1"] >= scores["overall"]["f1"]


@pytest.mark.slow
def test_exports_find_nearly_the_same(run, model, monkeypatch):
    """In float32 the export itself holds scores against the model's before it makes 8 bits."""
    monkeypatch.setattr("trigner.families.onnx.quantization.LARGE", 64)
    small = model.parent / "int8"
    result = run("export", "--model", model, "--out", small, "--int8")
    assert result.code == 0, result.err
    assert json.loads(run("info", small, "--json").out)["runtime"]["precision"] == "int8"
    before = {(e.label, e.fragments) for e in entities(model)}
    after = {(e.label, e.fragments) for e in entities(small)}
    assert len(before & after) > len(before) / 2


def test_serve_answers_as_extract_and_explains(model):
    client = TestClient(
        create_app(
            load(model, device="cpu"), ServiceSettings(), description=read_description(model)
        )
    )
    with client:
        answer = client.post("/v1/extract", json={"text": TEXT}).json()
        expected = entities(model)
        assert [e["label"] for e in answer["entities"]] == [e.label for e in expected]
        grid = client.post("/v1/grid", json={"text": TEXT, "at": 0})
        has_grid = system_spec(read_description(model).system).grid
        assert grid.status_code == (200 if has_grid else 422)
        for entity in grid.json().get("entities", ()):
            product = 1.0
            for cell in entity["cells"]:
                product *= cell["probability"]
            assert product == pytest.approx(entity["score"], abs=1e-3)


def test_the_ceiling_of_each(run, gold):
    found = json.loads(run("ceiling", "--data", gold, "--json").out)
    assert set(found) == {name for name, spec in systems().items() if spec.round_trip}
    assert set(found) >= set(TAG_SCHEMES)
    assert found["w2ner"] == found["toe"]
    assert found["toe"]["lost"] == 0
