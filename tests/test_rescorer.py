from __future__ import annotations

import pytest
from pydantic import ValidationError

from trigner.rescorer import Rescorer

ONE = {"bias": 0.5, "weights": {"score": 1.0}, "thresholds": (0.3, 0.2)}


def test_what_is_written_is_read():
    rescorer = Rescorer(**ONE)
    assert Rescorer.model_validate(rescorer.model_dump(mode="json")) == rescorer


@pytest.mark.parametrize(
    "change",
    [
        {"bias": float("nan")},
        {"bias": 1e7},
        {"bias": "1"},
        {"weights": {"score": float("inf")}},
        {"weights": {"score": -1e7}},
        {"thresholds": (0.3,)},
        {"thresholds": (0.3, 1.1)},
        {"more": 1},
    ],
    ids=str,
)
def test_what_no_fit_gives_is_refused(change):
    with pytest.raises(ValidationError):
        Rescorer(**{**ONE, **change})
