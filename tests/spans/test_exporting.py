from __future__ import annotations

import pytest

from trigner.errors import TrignerError
from trigner.mentions import Sentence
from trigner.model_folder import Description, read_description, save_model
from trigner.spans import exporting
from trigner.spans.loading import load, load_model
from trigner.spans.onnx_runtime import OUTPUTS
from trigner.tagging.exporting import graph_of, probes

SMALL = {"lstm_size": 8, "width_size": 3, "hidden_size": 6}
TEXTS = ["my left leg hurt .", "pain", "no pain in arm , numb after the tablet"]


@pytest.fixture(scope="module")
def folder(make, tmp_path_factory):
    """A model with random weights in a folder."""
    system = make(max_width=4)
    state = system.saved_state()
    folder = tmp_path_factory.mktemp("spans") / "model"
    description = Description(
        system="spans",
        labels=system.labels,
        model={**SMALL, "max_width": 4},
        state=dict(state.state),
        files={},
    )
    save_model(folder, description, state.files)
    return folder


@pytest.fixture(scope="module")
def graph(folder):
    """Its graph, made once: that takes long."""
    model = load_model(folder, read_description(folder))
    network = exporting.ExportedSpans(model.network)
    return graph_of(network, probes(model.inputs), OUTPUTS)


@pytest.mark.parametrize("int8", [False, True])
def test_an_export_finds_what_the_model_finds(folder, graph, tmp_path, monkeypatch, int8):
    monkeypatch.setattr(exporting, "graph_of", lambda *_: graph)
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
    if int8:
        assert len(predictors[1].predict(inputs)) == len(inputs)
        return
    one, other = (predictor.predict(inputs) for predictor in predictors)
    assert any(prediction.mentions for prediction in one)
    for a, b in zip(one, other, strict=True):
        assert a.bounded == b.bounded
        assert {s.mention for s in a.mentions} == {s.mention for s in b.mentions}
        scores = {s.mention: s.score for s in a.mentions}
        for scored in b.mentions:
            assert scored.score == pytest.approx(scores[scored.mention], abs=1e-4)


def test_a_graph_that_scores_otherwise_is_not_written(folder, graph, tmp_path, monkeypatch):
    monkeypatch.setattr(exporting, "graph_of", lambda *_: graph)
    monkeypatch.setattr(exporting, "largest_difference", lambda *_: 0.1)
    with pytest.raises(TrignerError, match="differ"):
        exporting.export(folder, tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()
