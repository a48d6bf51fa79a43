from __future__ import annotations

import numpy as np
import pytest

from trigner.batches import geometry


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (0, 19),
        *((1, 1), (-1, 10)),
        *((2, 2), (-2, 11)),
        *((3, 2), (-3, 11)),
        *((4, 3), (-4, 12)),
        *((255, 8), (-255, 17)),
        *((256, 9), (-256, 18)),
        *((1200, 9), (-1200, 18)),
    ],
)
def test_distance_buckets(offset, expected):
    row, column = max(offset, 0), max(-offset, 0)
    assert geometry.distances(1201)[row, column] == expected


def test_regions():
    assert geometry.regions(3).tolist() == [[2, 1, 1], [2, 2, 1], [2, 2, 2]]


def test_a_distance_settles_the_region():
    table = geometry.region_of_distance()
    assert table[0] == geometry.PADDING_REGION
    distances = geometry.distances(300)
    assert np.array_equal(table[distances], geometry.regions(300))
    assert geometry.distances(0).shape == (0, 0)
