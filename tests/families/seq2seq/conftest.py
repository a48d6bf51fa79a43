"""Small untrained systems, each made once."""

from __future__ import annotations

from functools import cache

import pytest

from tiny_seq2seq import encoder_of, tiny_system


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    """Folder of a tiny encoder or encoder-decoder, by kind."""

    @cache
    def folder(kind):
        return encoder_of(tmp_path_factory.mktemp("encoder") / kind, kind)

    return folder


@pytest.fixture(scope="session")
def tiny_seq2seq(encoder):
    """Makes a system by encoder kind and settings."""

    @cache
    def made(kind="bert", *assignments):
        return tiny_system(encoder(kind), kind, *assignments)

    return made
