"""Parsers around one tiny encoder."""

from __future__ import annotations

from functools import partial

import pytest

from tiny_parsers import tiny_parser


@pytest.fixture(scope="session")
def make(encoder):
    """`tiny_parser` with its encoder."""
    return partial(tiny_parser, encoder)
