"""A small model that finds things, its folder, and the service around it."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from tiny_models import tiny_model
from trigner.batches import collate
from trigner.inference import export, extractor
from trigner.model_folder import read_description
from trigner.serving import ServiceSettings, create_app


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A model with random weights."""
    return tiny_model(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="session")
def folder(model, tmp_path_factory):
    """The exported model's folder."""
    return export(model, tmp_path_factory.mktemp("exported") / "model")


@pytest.fixture
def extract(model):
    """An extractor around the model."""
    return extractor(model, device="cpu")


@pytest.fixture
def serve(extract, folder):
    """A client of a started service; settings by keyword, another extractor if wanted."""
    clients = []

    def start(owned=extract, **settings):
        app = create_app(owned, ServiceSettings(**settings), description=read_description(folder))
        client = TestClient(app, raise_server_exceptions=False)
        clients.append(client.__enter__())
        return client

    yield start
    for client in clients:
        client.__exit__(None, None, None)


class Gate:
    """A scorer that waits until it is let through, and remembers the sizes of its batches."""

    def __init__(self, scorer):
        self.scorer = scorer
        self.open = threading.Event()
        self.open.set()
        self.entered = threading.Event()
        self.sizes = []

    def __call__(self, batch):
        self.sizes.append(len(batch.lengths))
        self.entered.set()
        assert self.open.wait(30)
        return self.scorer(batch)

    def shut(self):
        self.entered.clear()
        self.open.clear()


@pytest.fixture
def gate(extract):
    """The gate of `gated`, opened when the test ends."""
    made = Gate(extract.scorer)
    yield made
    made.open.set()


@pytest.fixture
def gated(extract, gate):
    """The extractor whose scorer is `gate`."""
    return replace(extract, scorer=gate)


@pytest.fixture(scope="session")
def run():
    """Runs work without a worker."""

    def result(work, extract, at_a_time):
        """The result of work whose items are scored so many at a time."""
        while not work.future.done():
            items = []
            while len(items) < at_a_time and (item := work.take()) is not None:
                items.append(item)
            if items:
                subwords = [item.example.subwords for item in items]
                scores = extract.scorer(collate(subwords, padding_id=extract.padding_id))
                for item, logits in zip(items, scores, strict=True):
                    work.receive(item, logits)
            work.finish()
        return work.future.result()

    return result
