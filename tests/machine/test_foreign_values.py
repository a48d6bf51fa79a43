from __future__ import annotations

import json

import pytest

from trigner.machine.foreign_values import (
    DEEPEST,
    DuplicateKeyError,
    flaw_of,
    mapping,
    number,
    text,
    unique_keys,
    whole_number,
)


def nested(levels):
    value = "x"
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


@pytest.mark.parametrize(
    ("value", "flaw"),
    [
        ("\ud800x", "half a character"),
        ([{"a": {"\udc00": 1}}], "half a character"),
        ({"a": [1, float("nan")]}, "NaN or infinite"),
        (float("-inf"), "NaN or infinite"),
        (nested(DEEPEST + 1), "too deep"),
        (nested(100_000), "too deep"),
    ],
    ids=["string", "name", "nan", "infinity", "deep", "deeper"],
)
def test_what_cannot_be_written_again(value, flaw):
    assert flaw in flaw_of(value)


def test_what_can_be_written_again():
    value = [None, True, 10**400, 0.5, "é😵\x00", nested(DEEPEST - 1)]
    assert flaw_of(value) == ""
    assert json.loads(json.dumps(value, ensure_ascii=False).encode()) == value


def test_what_is_of_another_kind_is_nothing():
    assert [mapping(own) for own in ({"a": 1}, [1], "a", None)] == [{"a": 1}, {}, {}, {}]
    assert [text(own) for own in ("a", ["a"], 1)] == ["a", None, None]
    assert [whole_number(own) for own in (3, 3.0, True, "3")] == [3, None, None, None]
    assert [number(own) for own in (3, 0.5, True, "3", 10**400)] == [3.0, 0.5, None, None, None]


def test_a_key_twice_in_one_object_is_named(refused):
    assert json.loads('[{"a": 1}, {"a": {"a": 2}}]', object_pairs_hook=unique_keys)
    with refused(error=DuplicateKeyError):
        json.loads('{"b": {"a": 1, "c": 0, "a": 1}}', object_pairs_hook=unique_keys)
