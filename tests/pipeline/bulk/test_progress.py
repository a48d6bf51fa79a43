from __future__ import annotations

import pytest

from trigner.pipeline.bulk import progress as room
from trigner.pipeline.bulk.progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    now = [0.0]
    monkeypatch.setattr(room, "monotonic", lambda: now[0])
    return now


def test_rows_of_known_number(clock):
    progress = Progress()
    progress.expect(100, 5)
    progress.expect(300, 5)
    progress.begin(40, 2)
    assert (progress.total, progress.is_exact) == (400, True)
    assert progress.detail() == ", 0.0 rows/s, 2 errors"
    clock[0] = 10
    progress.done = 140
    assert progress.detail() == ", 26 s left, 10.0 rows/s, 2 errors"


def test_rows_that_only_reading_tells_are_guessed(clock):
    progress = Progress()
    progress.expect(100, 5)
    progress.expect(None, 1000)
    progress.expect(None, 3000)
    progress.begin(0, 0)
    assert progress.total is None
    progress.read(1, 50, 0.25, 1000)
    assert progress.total == 100 + 200 * 4
    progress.read(1, 100, 1.0, 1000)
    progress.read(2, 150, 0.5, 3000)
    assert (progress.total, progress.is_exact) == (100 + 100 + 300, False)
    clock[0] = 1
    progress.done = 250
    assert progress.detail() == ", about 1 s left, 250.0 rows/s, 0 errors"
    progress.done = 700
    assert progress.total == 700  # more than was guessed
