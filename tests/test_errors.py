from __future__ import annotations

from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from trigner.errors import InputError, TrignerError, first_line, require_extra, validation_message


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


@pytest.mark.parametrize(
    ("message", "expected"), [("\n no such file\nTraceback ...", "no such file"), (" ", "OSError")]
)
def test_an_error_in_one_line(message, expected):
    assert first_line(OSError(message)) == expected


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


class Limits(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    whole: int = Field(default=2, ge=1, le=9)
    rate: float = Field(default=0.5, gt=0, lt=1)
    even: int = Field(default=2, multiple_of=2)
    switch: bool = True
    kind: Literal["a", "b"] = "a"
    names: tuple[int, ...] = Field(default=(1,), min_length=1)
    label: str = ""


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("whole", 0, "must be at least 1, got 0"),
        ("whole", 10, "must be at most 9, got 10"),
        ("whole", 1.5, "must be a whole number, got 1.5"),
        ("whole", "x", "must be a whole number, got 'x'"),
        ("rate", 0, "must be above 0.0, got 0"),
        ("rate", 1, "must be below 1.0, got 1"),
        ("rate", "x", "must be a number, got 'x'"),
        ("rate", float("nan"), "must be a finite number, got nan"),
        ("even", 3, "must be a multiple of 2, got 3"),
        ("switch", "x", "must be true or false, got 'x'"),
        ("kind", "c", "must be one of 'a' or 'b', got 'c'"),
        ("names", [], "must be a list of at least 1, got []"),
        ("names", 3, "must be a list, got 3"),
        ("label", 3, "must be a text, got 3"),
    ],
)
def test_what_pydantic_refuses_in_plain_words(name, value, message):
    with pytest.raises(ValidationError) as refused:
        Limits(**{name: value})
    (error,) = refused.value.errors()
    assert validation_message(error) == message
