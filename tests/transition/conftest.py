"""Parsers around one tiny encoder."""

from __future__ import annotations

from functools import partial

import pytest

from tiny_encoders import tiny_encoder
from tiny_parsers import tiny_parser


@pytest.fixture(scope="session")
def make(tmp_path_factory):
    """`tiny_parser` with its encoder."""
    return partial(
        tiny_parser, tiny_encoder(tmp_path_factory.mktemp("encoder"), "bert", head=False)
    )
