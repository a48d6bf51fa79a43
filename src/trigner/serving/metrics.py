"""What the service counts, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from trigner.mentions import Entity

CONTENT_TYPE = CONTENT_TYPE_LATEST

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """One service's counts, in a registry of its own. No label holds anything that users send."""

    def __init__(self, waiting: Callable[[], int]) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "trigner_requests", "Requests answered.", ["path", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "trigner_request_seconds",
            "Seconds from a request's head to the end of its answer.",
            ["path"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._batches = Histogram(
            "trigner_batch_sentences",
            "Sentences scored together.",
            buckets=_SIZES,
            registry=self.registry,
        )
        self._batch_seconds = Histogram(
            "trigner_batch_seconds",
            "Seconds to score a batch and read its entities.",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._entities = Counter(
            "trigner_entities", "Entities answered.", ["label"], registry=self.registry
        )
        self._queue = Gauge(
            "trigner_queue_requests",
            "Requests taken and not yet answered.",
            registry=self.registry,
        )
        self._queue.set_function(waiting)
        ProcessCollector(registry=self.registry)

    def request(self, path: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def batch(self, sentences: int, seconds: float) -> None:
        """A batch was scored."""
        self._batches.observe(sentences)
        self._batch_seconds.observe(seconds)

    def entities(self, entities: Iterable[Entity]) -> None:
        """Entities were answered."""
        for entity in entities:
            self._entities.labels(entity.label).inc()

    def text(self) -> bytes:
        """All of it as Prometheus reads it."""
        return generate_latest(self.registry)
