from __future__ import annotations

import json

import pytest

from trigner.errors import InputError
from trigner.model_folder import (
    check_hashes,
    description_as_json,
    files_of,
    hash_of,
    need,
    read_description,
)


def test_descriptions_come_back(tmp_path):
    (tmp_path / "trigner.json").write_text(description_as_json({"labels": ["Ä"]}), "utf-8")
    assert read_description(tmp_path)["labels"] == ["Ä"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"[]", "was not written by trigner"),
        (b"{", "is damaged"),
        (b"\xff", "is damaged"),
        (json.dumps({"format": 0}).encode(), "model format 0"),
    ],
)
def test_descriptions_that_are_none(tmp_path, content, told):
    (tmp_path / "trigner.json").write_bytes(content)
    with pytest.raises(InputError, match=told):
        read_description(tmp_path)


def test_the_files_of_a_model():
    assert files_of({}) == (
        "encoder/config.json",
        "model.safetensors",
        "tokenizer.json",
        "trigner.json",
    )
    assert files_of({"runtime": {}}) == ("model.onnx", "tokenizer.json", "trigner.json")


def test_files_that_are_missing_or_others(tmp_path):
    (tmp_path / "a").write_bytes(b"1")
    check_hashes(tmp_path, {"a": hash_of(b"1")})
    need(tmp_path, ["a"])
    with pytest.raises(InputError, match="a: is not the one"):
        check_hashes(tmp_path, {"a": hash_of(b"2")})
    with pytest.raises(InputError, match="has no b"):
        need(tmp_path, ["a", "b"])
