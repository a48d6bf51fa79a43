from __future__ import annotations

import pytest

from tiny_models import TAG_SCHEMES, TEXT, save
from trigner.batches.examples import Prepared
from trigner.encoders.devices import choose_device
from trigner.families.tagging.system import TagSystem
from trigner.families.tagging.torch_runtime import torch_predictor
from trigner.mentions import Document
from trigner.pipeline.loading import load
from trigner.systems.protocols import Losses, Prediction
from trigner.systems.registry import checked_predictor, checked_system, system_spec
from trigner.text.segmentation import segment
from trigner.training.settings import resolve

SENTENCES = segment(Document("d", TEXT)).sentences


@pytest.mark.parametrize("name", TAG_SCHEMES)
def test_a_tag_schemes_predictor_is_one(tiny, name):
    model = tiny(name)
    spec = system_spec(name)
    predictor = checked_predictor(spec, torch_predictor(model, choose_device("cpu")))
    assert predictor.labels == ("ADR", "Drug")
    prepared = predictor.prepare(SENTENCES)
    assert isinstance(prepared, Prepared)
    assert [own.sentence for own in prepared.inputs] == list(range(len(SENTENCES)))
    assert all(own.size >= len(SENTENCES[own.sentence].words) for own in prepared.inputs)
    predictions = predictor.predict(prepared.inputs)
    assert len(predictions) == len(prepared.inputs)
    assert all(isinstance(each, Prediction) for each in predictions)


@pytest.mark.parametrize("name", TAG_SCHEMES)
def test_a_tag_scheme_is_a_system(tiny, name):
    settings = resolve(options={"system": name})
    system = checked_system(system_spec(name), TagSystem(tiny(name), settings))
    assert system.labels == ("ADR", "Drug")
    examples = system.prepare(SENTENCES).inputs
    sizes = [system.sizes(example) for example in examples]
    assert all(size["cells"] > 0 for size in sizes)
    assert system.inexpressible(SENTENCES) == 0
    losses = system.loss({}, **system.collate(examples))
    assert isinstance(losses, Losses)
    assert losses.total.ndim == 0
    assert losses.total.requires_grad
    assert "loss_tags" in losses.parts
    grouped = [p for g in system.parameter_groups(settings.optimisation) for p in g["params"]]
    assert {id(p) for p in grouped} == {id(p) for p in system.network.parameters()}


def test_what_a_system_saves_its_loader_reads(tiny, tmp_path):
    model = tiny("corro")
    system = TagSystem(model, resolve(options={"system": "corro"}))
    assert set(system.saved_state().files) == {
        "encoder/config.json",
        "model.safetensors",
        "tokenizer.json",
    }
    loaded = load(save(model, tmp_path / "model"), device="cpu").predictor
    ours, theirs = system.predictor("cpu"), loaded
    inputs = ours.prepare(SENTENCES).inputs
    assert ours.predict(inputs) == theirs.predict(theirs.prepare(SENTENCES).inputs)
