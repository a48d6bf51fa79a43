"""The package itself: its version and its lazy names."""

from __future__ import annotations

import importlib
from importlib.metadata import version

import pytest

import trigner


def test_the_version_is_the_installed_one():
    assert trigner.__version__ == version("trigner")


@pytest.mark.parametrize(
    ("name", "room"),
    [
        ("Document", "mentions"),
        ("Entity", "mentions"),
        ("load", "pipeline"),
        ("to_dataframe", "rendering"),
    ],
)
def test_a_name_is_that_of_its_room(name, room):
    found = getattr(trigner, name)
    assert found is getattr(importlib.import_module(f"trigner.{room}"), name)
    assert found is vars(trigner)[name]


def test_an_unknown_name_is_an_attribute_error(refused):
    with refused(error=AttributeError):
        trigner.laod  # noqa: B018


def test_dir_names_what_is_public_and_nothing_else():
    public = ["Document", "Entity", "__version__", "load", "to_dataframe"]
    assert dir(trigner) == sorted(trigner.__all__) == public
