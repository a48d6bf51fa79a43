from __future__ import annotations

import pytest

from trigner.errors import InputError, TrignerError, require_extra


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


def test_missing_packages_name_the_cure(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        TrignerError, match=r"torch and transformers: pip install 'trigner\[train\]'"
    ):
        require_extra("train", "torch", "transformers")


def test_installed_packages_are_not_named():
    require_extra("train", "json")
    with pytest.raises(TrignerError, match=r"^this needs not_installed: "):
        require_extra("train", "json", "not_installed")
