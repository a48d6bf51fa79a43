"""Metrics of the service, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from trigner.mentions import Entity

CONTENT_TYPE = CONTENT_TYPE_LATEST

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """One service's metrics, in a registry of its own. No label holds anything that users send."""

    def __init__(self, in_progress: Callable[[], int]) -> None:
        registry = self.registry = CollectorRegistry()
        self._requests = Counter(
            "trigner_requests", "Requests answered.", ["path", "status"], registry=registry
        )
        self._seconds = Histogram(
            "trigner_request_seconds",
            "Seconds from the head of a request to the end of its response.",
            ["path"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._batches = Histogram(
            "trigner_batch_sentences", "Sentences in a batch.", buckets=_SIZES, registry=registry
        )
        self._batch_seconds = Histogram(
            "trigner_batch_seconds",
            "Seconds to score and decode a batch.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._entities = Counter(
            "trigner_entities", "Entities returned.", ["label"], registry=registry
        )
        queue = Gauge("trigner_queue_requests", "Requests in progress.", registry=registry)
        queue.set_function(in_progress)
        ProcessCollector(registry=registry)

    def request(self, path: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def batch(self, sentences: int, seconds: float) -> None:
        """Count a scored batch."""
        self._batches.observe(sentences)
        self._batch_seconds.observe(seconds)

    def entities(self, entities: Iterable[Entity]) -> None:
        """Count returned entities."""
        for entity in entities:
            self._entities.labels(entity.label).inc()

    def text(self) -> bytes:
        """All metrics in the Prometheus text format."""
        return generate_latest(self.registry)
