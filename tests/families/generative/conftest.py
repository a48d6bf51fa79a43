"""Small language models and untrained systems, each made once."""

from __future__ import annotations

from functools import cache

import pytest

from tiny_language_models import tiny_generative, tiny_language_model


@pytest.fixture(scope="session")
def language_model(tmp_path_factory):
    """Folder of a tiny language model, by kind."""

    @cache
    def folder(kind="gpt2", **options):
        return tiny_language_model(tmp_path_factory.mktemp("model") / kind, kind, **options)

    return folder


@pytest.fixture(scope="session")
def generative(language_model):
    """Makes a system by kind of language model and settings."""

    @cache
    def made(kind="gpt2", *assignments):
        return tiny_generative(language_model(kind), *assignments)

    return made
