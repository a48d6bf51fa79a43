"""`benchmarks/triplet_gradients.py` on a small network."""

from __future__ import annotations

from pathlib import Path

import pytest
import triplet_gradients as benchmark

DEV = Path(__file__).resolve().parents[2] / "data" / "mini-adr" / "dev"
SMALL = (
    *("model.lstm_size=8", "model.distance_size=3", "model.region_size=3", "model.channels=4"),
    *("model.pair_size=6", "model.grid_size=5"),
)


@pytest.mark.parametrize("name", benchmark.FORMS)
def test_the_comparison_is_at_weight_1_whatever_the_weight_is(encoder, name):
    """Before the first update the weights are equal, and so is what is compared."""
    found = []
    for weight in (0.5, 2.0):
        others = (*SMALL, f"encoder={encoder}")
        settings = benchmark.settings_of(benchmark.FORMS[name], weight, 1, others)
        found.append(list(benchmark.compared(DEV, settings, 7)))
    (first, *_), (other, *_) = found
    assert [update for update, *_ in found[0]] == [0, benchmark.EVERY]
    assert first == pytest.approx(other, rel=1e-3)
    assert first[1] > 0
    assert -1 <= first[2] <= 1
