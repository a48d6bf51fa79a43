from __future__ import annotations

import pytest
from pydantic import ValidationError

from trigner.serving.settings import ServiceSettings


@pytest.mark.parametrize(
    "wrong",
    [{"max_body": 0}, {"timeout": 0}, {"timeout": float("inf")}, {"batch_delay": 5}, {"x": 1}],
)
def test_limits_make_sense(wrong):
    with pytest.raises(ValidationError):
        ServiceSettings(**wrong)


def test_settings_do_not_change():
    with pytest.raises(ValidationError):
        ServiceSettings().timeout = 3
