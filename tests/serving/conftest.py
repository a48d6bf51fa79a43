"""The service around a small model that finds things."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from tiny_models import extractor
from trigner.models.folder import read_description
from trigner.serving.app import create_app
from trigner.serving.settings import ServiceSettings


@pytest.fixture
def extract(tiny):
    """An extractor around the small model."""
    return extractor(tiny())


@pytest.fixture
def serve(extract, exported_model):
    """A client of a started service; settings by keyword, another extractor if wanted."""
    clients = []

    def start(owned=extract, **settings):
        description = read_description(exported_model)
        app = create_app(owned, ServiceSettings(**settings), description=description)
        client = TestClient(app, raise_server_exceptions=False)
        clients.append(client.__enter__())
        return client

    yield start
    for client in clients:
        client.__exit__(None, None, None)


class Gate:
    """A predictor that waits until it is let through, and remembers the sizes of its batches."""

    def __init__(self, predictor):
        self.labels = predictor.labels
        self.prepare = predictor.prepare
        self.predictor = predictor
        self.open = threading.Event()
        self.open.set()
        self.entered = threading.Event()
        self.sizes = []

    def predict(self, inputs):
        self.sizes.append(len(inputs))
        self.entered.set()
        assert self.open.wait(30)
        return self.predictor.predict(inputs)

    def shut(self):
        self.entered.clear()
        self.open.clear()


@pytest.fixture
def gate(extract):
    """The gate of `gated`, opened when the test ends."""
    made = Gate(extract.predictor)
    yield made
    made.open.set()


@pytest.fixture
def gated(extract, gate):
    """The extractor whose predictor is `gate`."""
    return replace(extract, predictor=gate)


@pytest.fixture(scope="session")
def run():
    """Runs work without a worker."""

    def result(work, at_a_time):
        """The result of work whose items are computed so many at a time."""
        while not work.future.done():
            items = []
            while len(items) < at_a_time and (item := work.take()) is not None:
                items.append(item)
            if items:
                outputs = items[0].compute([item.input for item in items])
                for item, output in zip(items, outputs, strict=True):
                    work.receive(item, output)
            work.finish()
        return work.future.result()

    return result
