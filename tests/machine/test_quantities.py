from __future__ import annotations

import pytest

from trigner.machine.quantities import counted, duration


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.4, "0 s"), (59, "59 s"), (61, "1 min"), (3590, "1 h 0 min"), (90_060, "25 h 1 min")],
)
def test_durations(seconds, told):
    assert duration(seconds) == told


def test_numbers_with_their_words():
    assert counted(1, "file") == "1 file"
    assert counted(0, "file") == "0 files"
    assert counted(1234, "entity", "entities") == "1,234 entities"
