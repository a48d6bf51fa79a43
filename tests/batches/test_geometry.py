from __future__ import annotations

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
    ],
)
def test_distance_buckets(offset, expected):
    assert geometry.distance_of_offset()[geometry.REACH + offset] == expected


def test_a_distance_settles_the_region():
    table = geometry.region_of_distance()
    assert table[0] == geometry.PADDING_REGION
    for offset in range(-geometry.REACH, geometry.REACH + 1):
        distance = geometry.distance_of_offset()[geometry.REACH + offset]
        above = offset < 0  # the column lies behind the row
        assert table[distance] == (geometry.UPPER_REGION if above else geometry.LOWER_REGION)
