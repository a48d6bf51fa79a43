from __future__ import annotations

import pytest

from trigner.triplets import share_of_weight


@pytest.mark.parametrize(
    ("progress", "rising"), [(0, 0), (0.3, 0), (0.5, 0.5), (0.6, 0.8), (0.7, 1), (1, 1)]
)
def test_thirds_of_a_training(progress, rising):
    assert share_of_weight("rising", progress) == pytest.approx(rising)
    assert share_of_weight("falling", progress) == pytest.approx(1 - rising)
    assert share_of_weight("constant", progress) == 1
