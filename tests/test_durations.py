from __future__ import annotations

import pytest

from trigner.durations import duration


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.4, "0 s"), (59, "59 s"), (61, "1 min"), (3590, "1 h 0 min"), (90_060, "25 h 1 min")],
)
def test_durations(seconds, told):
    assert duration(seconds) == told
