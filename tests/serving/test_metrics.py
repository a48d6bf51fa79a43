from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from trigner.mentions import Entity
from trigner.serving.metrics import Metrics


def test_what_is_counted():
    metrics = Metrics(lambda: 7)
    metrics.request("/v1/extract", 200, 0.02)
    metrics.request("/v1/extract", 503, 0.001)
    metrics.batch(12, 0.1)
    metrics.entities([Entity("ADR", ((0, 1),), "a"), Entity('A"D\nR', ((0, 1),), "a")])
    samples = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }
    path = ("path", "/v1/extract")
    assert samples["trigner_requests_total", path, ("status", "200")] == 1
    assert samples["trigner_requests_total", path, ("status", "503")] == 1
    assert samples["trigner_request_seconds_count", path] == 2
    assert samples["trigner_request_seconds_sum", path] == pytest.approx(0.021)
    assert samples[("trigner_batch_seconds_sum",)] == 0.1
    assert samples[("trigner_batch_sentences_sum",)] == 12
    assert samples["trigner_batch_sentences_bucket", ("le", "8.0")] == 0
    assert samples[("trigner_queue_requests",)] == 7
    assert samples["trigner_entities_total", ("label", "ADR")] == 1
    assert samples["trigner_entities_total", ("label", 'A"D\nR')] == 1


def test_two_services_count_for_themselves():
    first, second = Metrics(lambda: 0), Metrics(lambda: 0)
    first.request("/", 200, 0.1)
    assert 'path="/"' not in second.text().decode()
