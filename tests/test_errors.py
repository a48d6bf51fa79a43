from __future__ import annotations

import pytest

from trigner.errors import InputError, TrignerError


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, "is odd"),
        ({"path": "a/b.ann"}, "a/b.ann: is odd"),
        ({"path": "a/b.ann", "line": 3}, "a/b.ann:3: is odd"),
    ],
)
def test_the_message_starts_with_the_place(where, expected):
    error = InputError("is odd", **where)
    assert str(error) == expected
    assert error.message == "is odd"
    assert isinstance(error, TrignerError)
