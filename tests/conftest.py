"""What holds for every test: no network, one thread, no time limit on an example; small models."""

from __future__ import annotations

import gc
import os

os.environ["HF_HUB_OFFLINE"] = "1"  # read when huggingface_hub is imported
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read when onnxruntime is imported
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# Ray's workers give way to every other process by default: here those are the other tests.
os.environ.setdefault("RAY_worker_niceness", "0")

from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings

from hub_stub import hub  # noqa: F401, a fixture
from snapshots import stable
from trigner.errors import InputError

settings.register_profile("trigner", deadline=None, print_blob=True)
settings.load_profile("trigner")


TESTS = Path(__file__).parent
SLOW = (
    *("benchmarks", "docs", "trials"),
    "families/generative/test_real_model.py",
    "integrations/test_spark.py",
    "lab/prompting/test_local_llm.py",
    "lab/studies/test_jobs.py",
    "pipeline/bulk/test_cluster.py",
    "pipeline/bulk/test_workers.py",
    "serving/test_container.py",
    "serving/test_page_in_browser.py",
    "serving/test_server.py",
    "systems/test_long_sentences.py",
    "test_distribution.py",
    "training/test_processes.py",
)
"""Folders and files of which all tests are `slow`; single ones have the mark themselves."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what is in `SLOW`, before a mark chooses among the tests."""
    slow = [(TESTS / name).resolve(strict=True) for name in SLOW]  # what has moved is an error
    for item in items:
        if any(item.path.is_relative_to(path) for path in slow):
            item.add_marker(pytest.mark.slow)


def pytest_configure(config):
    """A folder that this run's processes share: `graphs_made_once`, `trained_models`."""
    if not hasattr(config, "workerinput"):
        folder = TemporaryDirectory(prefix="trigner-tests-")
        config.add_cleanup(folder.cleanup)
        os.environ["TRIGNER_TEST_RUN"] = folder.name


@pytest.fixture(scope="module", autouse=True)
def long_lived_objects_are_not_searched():
    """Garbage is searched for among what a module's tests made, not among all that was imported.

    A collection takes a second where there are millions of objects, and each training has some.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture
def wording(snapshot, tmp_path_factory):
    """Compares what an error says, or another text, with the snapshot of the test's room."""

    def compare(said):
        assert stable(str(said), str(tmp_path_factory.getbasetemp())) == snapshot

    return compare


@pytest.fixture
def refused(wording):
    """Within it, an `InputError` that names this file and line; its wording is compared."""

    @contextmanager
    def check(path=None, line=None, *, error=InputError):
        with pytest.raises(error) as caught:
            yield caught
        if path is not None:
            assert caught.value.path.match(str(path)), caught.value.path
        if line is not None:
            assert caught.value.line == line
        wording(caught.value)

    return check


@pytest.fixture(scope="session")
def encoder_of(tmp_path_factory):
    """Folder of a tiny encoder by kind, head and positions, each made once; only to be read."""
    from tiny_encoders import tiny_encoder

    @cache
    def made(kind="bert", *, head=False, positions=40):
        folder = tmp_path_factory.mktemp("encoder") / kind
        return tiny_encoder(folder, kind, head=head, positions=positions)

    return made


@pytest.fixture(scope="session")
def encoder(encoder_of):
    """Folder of the tiny encoder that most tests take."""
    return encoder_of()


@pytest.fixture(scope="session")
def encoders(encoder_of):
    """Folder of a tiny encoder by each kind."""
    from tiny_encoders import KINDS

    return {kind: encoder_of(kind) for kind in KINDS}


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """Makes a small untrained model by tag scheme, encoder kind and network settings, each once."""
    from tiny_models import tiny_model

    @cache
    def made(scheme="w2ner", kind="bert", **changes):
        return tiny_model(tmp_path_factory.mktemp("encoder") / kind, scheme, kind, **changes)

    return made


@pytest.fixture(scope="session")
def saved_model(tiny, tmp_path_factory):
    """Folder of the small w2ner model, for PyTorch."""
    from tiny_models import save

    return save(tiny(), tmp_path_factory.mktemp("saved") / "model")


@pytest.fixture(scope="session")
def exported_model(tiny, tmp_path_factory):
    """Folder of the same model, for ONNX Runtime."""
    from tiny_models import export

    return export(tiny(), tmp_path_factory.mktemp("exported") / "model")


@pytest.fixture(scope="session")
def trained():
    """Gives the trained model of a system, in context if wanted, each made once in a run."""
    from trained_models import trained

    return trained
