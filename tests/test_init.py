"""The package itself: its version and its one lazy name."""

from __future__ import annotations

from importlib.metadata import version

import pytest

import trigner


def test_the_version_is_the_installed_one():
    assert trigner.__version__ == version("trigner")


def test_load_is_that_of_inference():
    from trigner.inference import load

    assert trigner.load is load
    assert trigner.load is trigner.__dict__["load"]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'laod'"):
        trigner.laod  # noqa: B018


def test_dir_names_what_is_public():
    assert set(trigner.__all__) <= set(dir(trigner))
