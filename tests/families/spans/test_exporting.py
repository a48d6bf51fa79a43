from __future__ import annotations

import shutil

import numpy as np
import onnx
import pytest

from graph_changes import OF_ALL, cast_to, complaint, constant, doubled, refuses_special_words
from trigner.errors import TrignerError
from trigner.families.spans import exporting
from trigner.families.spans.loading import load, load_model
from trigner.families.spans.onnx_runtime import OUTPUTS, check_kept
from trigner.families.tagging.exporting import graph_of, probes
from trigner.mentions import Sentence
from trigner.models.folder import Description, read_description, save_model

SMALL = {"lstm_size": 8, "width_size": 3, "hidden_size": 6}
TEXT = "my left leg hurt, no pain in arm"
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
        model={**SMALL, "max_width": 4, "fragment_roles": True},
        state=dict(state.state),
        files={},
    )
    save_model(folder, description, state.files)
    return folder


@pytest.fixture(scope="module")
def graph(folder):
    """Its graph, made once: that takes long."""
    network, _, inputs = load_model(folder, read_description(folder))
    return graph_of(exporting.ExportedSpans(network), probes(inputs), OUTPUTS)


@pytest.mark.parametrize("int8", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_an_export_finds_what_the_model_finds(folder, graph, tmp_path, monkeypatch, int8):
    monkeypatch.setattr(exporting, "graph_of", lambda *_: graph)
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


def test_an_export_reads_sentences_of_which_more_spans_are_kept_than_of_probes(make, tmp_path):
    """Of probes one is, from 34 words on two are."""
    system = make(kept=0.03)
    state = system.saved_state()
    description = Description(
        system="spans",
        labels=system.labels,
        model={**SMALL, "kept": 0.03, "fragment_roles": True},
        state=dict(state.state),
        files={},
    )
    folder = tmp_path / "model"
    save_model(folder, description, state.files)
    out = exporting.export(folder, tmp_path / "onnx")
    predictors = [load(own, read_description(own), device="cpu") for own in (folder, out)]
    sentences = [Sentence("d", 0, tuple(TEXTS[0].split() * n), ((0, 0),) * (5 * n)) for n in (1, 7)]
    inputs = predictors[0].prepare(sentences).inputs
    for rows in (inputs, inputs[:1], inputs[1:]):
        one, other = (predictor.outputs(rows) for predictor in predictors)
        assert len(one[-1].kept) == (1 if rows[-1].length == 5 else 2)
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a.kept, b.kept)
            np.testing.assert_allclose(a.fragments, b.fragments, atol=1e-4)
            np.testing.assert_allclose(a.relations, b.relations, atol=1e-4)


def test_a_graph_that_scores_otherwise_is_not_written(
    folder, graph, tmp_path, monkeypatch, refused
):
    monkeypatch.setattr(exporting, "graph_of", lambda *_: graph)
    monkeypatch.setattr(exporting, "largest_difference", lambda *_: 0.1)
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
        *((doubled(0, axis), "not scores of shape") for axis in range(4)),
        *((doubled(1, axis), "not spans of shape") for axis in range(2)),
        *((doubled(2, axis), "not scores of shape") for axis in range(4)),
        (cast_to(0, onnx.TensorProto.INT64), "not scores of shape"),
        (cast_to(1, onnx.TensorProto.FLOAT), "not spans of shape"),
        (cast_to(2, onnx.TensorProto.INT64), "not scores of shape"),
        *((constant(1, n), "no span") for n in (0, -2, 2, 10_000, 2**63 - 1, -(2**63))),
    ],
    ids=lambda own: getattr(own, "__name__", ""),
)
def test_graphs_that_are_of_no_spans(exported, tmp_path, change, message):
    folder = shutil.copytree(exported, tmp_path / "model")
    assert message in complaint(folder, change, TEXT)


def test_special_words_that_it_does_not_have(exported, tmp_path):
    refuses_special_words(shutil.copytree(exported, tmp_path / "model"))


@pytest.mark.parametrize(
    ("kept", "good"),
    [
        ([[0, 1, 8, -1], [0, -1, -1, -1]], True),
        ([[11, -1, -1, -1], [-1, -1, -1, -1]], False),  # words 2 to 5 of 3
        ([[8, -1, -1, -1], [4, -1, -1, -1]], False),  # a word of padding
        ([[0, 0, -1, -1], [-1, -1, -1, -1]], False),
        ([[-2, -1, -1, -1], [-1, -1, -1, -1]], False),
    ],
)
def test_spans_that_may_be_kept(kept, good, tmp_path, refused):
    arrays = (np.array(kept), np.array([3, 1]), 4, tmp_path / "model.onnx")
    if good:
        check_kept(*arrays)
        return
    with refused():
        check_kept(*arrays)


def test_a_model_from_before_roles_has_none(make, tmp_path):
    system = make(fragment_roles=False)
    state = system.saved_state()
    description = Description(
        system="spans",
        labels=system.labels,
        model=SMALL,
        state=dict(state.state),
        files={},
    )
    save_model(tmp_path, description, state.files)
    predictor = load(tmp_path, read_description(tmp_path), device="cpu")
    assert not predictor.format.roles
    sentence = Sentence("d", 0, ("no", "pain"), ((0, 2), (3, 7)))
    [scores] = predictor.outputs(predictor.prepare([sentence]).inputs)
    assert scores.fragments.shape[1] == len(system.labels)
