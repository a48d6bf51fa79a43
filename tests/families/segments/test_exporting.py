"""Exported segment models: they find what the model finds, and foreign graphs are refused."""

from __future__ import annotations

import shutil

import onnx
import pytest
import torch

from graph_changes import OF_ALL, cast_to, complaint, constant, doubled, refuses_special_words
from trigner.errors import TrignerError
from trigner.families.segments import exporting
from trigner.families.segments.loading import load, load_model
from trigner.families.segments.onnx_runtime import OUTPUTS
from trigner.families.tagging.exporting import graph_of, probes
from trigner.mentions import Sentence
from trigner.models.folder import Description, read_description, save_model

TEXT = "my left leg hurt, no pain in arm"
TEXTS = ["my left leg hurt .", "pain", "no pain in arm , numb after the tablet"]


@pytest.fixture(scope="module")
def folder(make, tmp_path_factory):
    """A model with random weights that finds much, in a folder."""
    sizes = {"lstm_size": 8, "width_size": 3, "hidden_size": 6, "combination_size": 5}
    system = make(max_width=4)
    with torch.no_grad():
        system.network.start.bias.fill_(2.0)
        system.network.readout.bias.fill_(0.2)
    state = system.saved_state()
    folder = tmp_path_factory.mktemp("segments") / "model"
    description = Description(
        system="segments",
        labels=system.labels,
        model={**sizes, "max_width": 4},
        state=dict(state.state),
        files={},
    )
    save_model(folder, description, state.files)
    return folder


@pytest.fixture(scope="module")
def graph(folder):
    """Its graph, made once: that takes long."""
    network, _, inputs = load_model(folder, read_description(folder))
    return graph_of(exporting.ExportedSegments(network), probes(inputs), OUTPUTS)


@pytest.fixture
def use_graph(graph, monkeypatch):
    monkeypatch.setattr(exporting, "graph_of", lambda *_: graph)


@pytest.mark.parametrize("int8", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_an_export_finds_what_the_model_finds(folder, use_graph, tmp_path, monkeypatch, int8):
    monkeypatch.setattr("trigner.families.onnx.quantization.LARGE", 64)
    out = exporting.export(folder, tmp_path / "onnx", int8=int8)
    description = read_description(out)
    assert description.is_exported
    assert description.runtime.precision == ("int8" if int8 else "float32")
    assert not int8 or description.runtime.difference < 0.5
    predictors = [load(own, read_description(own), device="cpu") for own in (folder, out)]
    sentences = [
        Sentence("d", n, tuple(t.split()), tuple((0, 0) for _ in t.split()))
        for n, t in enumerate(TEXTS)
    ]
    inputs = predictors[0].prepare(sentences).inputs
    one, other = (predictor.predict(inputs) for predictor in predictors)
    assert len(other) == len(one)
    if int8:
        return
    assert any(s.mention.is_discontinuous for prediction in one for s in prediction.mentions)
    for a, b in zip(one, other, strict=True):
        assert a.bounded == b.bounded
        scores = {s.mention: s.score for s in a.mentions}
        assert {s.mention: s.score for s in b.mentions} == pytest.approx(scores, abs=1e-4)


def test_a_graph_that_scores_otherwise_is_not_written(
    make, folder, use_graph, graph, tmp_path, refused
):
    network, _, inputs = load_model(folder, read_description(folder))
    batch = probes(inputs)
    own = exporting.torch_scorer(network)(batch)
    assert exporting.largest_difference(own, network.graph, batch, graph) < 1e-4
    with torch.no_grad():
        network.readout.bias += 1.0
    other = exporting.torch_scorer(network)(batch)
    assert exporting.largest_difference(other, network.graph, batch, graph) > 1e-2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporting, "largest_difference", lambda *_: 0.1)
        with refused(error=TrignerError):
            exporting.export(folder, tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()


@pytest.fixture(scope="module")
def exported(folder, graph, tmp_path_factory):
    """The model for ONNX Runtime."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporting, "graph_of", lambda *_: graph)
        return exporting.export(folder, tmp_path_factory.mktemp("exported") / "model")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *OF_ALL,
        *(
            (doubled(output, axis), "not scores of shape")
            for output, axes in enumerate((4, 6, 5, 3, 3))
            for axis in range(axes)
        ),
        *((cast_to(output, onnx.TensorProto.INT64), "not scores of shape") for output in range(5)),
        (constant(1, 1.0), "edges that there are not"),
    ],
    ids=lambda own: getattr(own, "__name__", ""),
)
def test_graphs_that_are_of_no_segments(exported, tmp_path, change, message):
    folder = shutil.copytree(exported, tmp_path / "model")
    assert message in complaint(folder, change, TEXT)


def test_special_words_that_it_does_not_have(exported, tmp_path):
    refuses_special_words(shutil.copytree(exported, tmp_path / "model"))
