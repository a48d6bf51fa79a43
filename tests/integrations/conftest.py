"""A model that finds things, in a folder of each kind, and the stub of the Hub."""

from __future__ import annotations

import pytest

from hub_stub import hub  # noqa: F401
from tiny_models import tiny_model
from trigner.inference import export
from trigner.networks import save


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    return tiny_model(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="session")
def saved(model, tmp_path_factory):
    """The folder that PyTorch loads."""
    folder = tmp_path_factory.mktemp("saved") / "model"
    save(model, folder)
    return folder


@pytest.fixture(scope="session")
def exported(model, tmp_path_factory):
    """The folder that ONNX Runtime loads."""
    return export(model, tmp_path_factory.mktemp("exported") / "model")
