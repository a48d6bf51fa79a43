"""Exported hypergraphs: what is no graph of theirs is refused."""

from __future__ import annotations

import shutil

import onnx
import pytest
import torch

import trigner
from graph_changes import OF_ALL, cast_to, complaint, constant, doubled, refuses_special_words
from trigner.families.hypergraph.exporting import export
from trigner.families.hypergraph.system import build
from trigner.models.folder import Description, save_model
from trigner.training.settings import resolve

TEXT = "my left leg hurt, no pain in arm. it was numb"


@pytest.fixture(scope="module", params=["start", "split"])
def exported(request, encoder, tmp_path_factory):
    """A model with random weights for ONNX Runtime."""
    torch.manual_seed(1)
    sizes = {"lstm_size": 8, "hidden_size": 8, "start_rank": 4, "max_extent": 5}
    own = [f"model.{name}={value}" for name, value in {**sizes, "graph": request.param}.items()]
    options = {"system": "hypergraph", "encoder": str(encoder)}
    settings = resolve(options=options, assignments=own)  # split reads no start_rank
    system = build(settings, ("ADR", "Drug"))
    state = system.saved_state()
    folder = tmp_path_factory.mktemp("hypergraph")
    description = Description(
        system="hypergraph",
        labels=system.labels,
        model=settings.model.model_dump(mode="json"),
        state=dict(state.state),
        files={},
    )
    save_model(folder / "model", description, state.files)
    return export(folder / "model", folder / "exported")


def test_its_own_graph_is_accepted(exported):
    assert trigner.load(exported)(TEXT).text == TEXT


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *OF_ALL,
        *((doubled(0, axis), "not scores of shape") for axis in range(4)),
        *((doubled(1, axis), "not scores of shape") for axis in range(6)),
        (cast_to(0, onnx.TensorProto.INT64), "not scores of shape"),
        (cast_to(1, onnx.TensorProto.INT64), "not scores of shape"),
        (constant(1, 1.0), "edges that there are not"),
    ],
    ids=lambda own: getattr(own, "__name__", ""),
)
def test_graphs_that_are_of_no_hypergraph(exported, tmp_path, change, message):
    folder = shutil.copytree(exported, tmp_path / "model")
    assert message in complaint(folder, change, TEXT)


def test_special_words_that_it_does_not_have(exported, tmp_path):
    refuses_special_words(shutil.copytree(exported, tmp_path / "model"))
