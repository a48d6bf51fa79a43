"""Small models with random weights that find mentions, and their exported folders."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tiny_models import tiny_model
from trigner.batches import collate
from trigner.inference import export, extractor


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Model by encoder kind, scheme and network settings, made once."""
    models = {}

    def model(kind="bert", scheme="w2ner", **changes):
        key = (kind, scheme, *sorted(changes.items()))
        if key not in models:
            folder = tmp_path_factory.mktemp("encoder") / kind
            models[key] = tiny_model(folder, scheme, kind, **changes)
        return models[key]

    return model


@pytest.fixture(scope="session")
def exported(made, tmp_path_factory):
    """Folder of the exported BERT model."""
    return export(made(), tmp_path_factory.mktemp("exported") / "float32")


@pytest.fixture(scope="session")
def quantised(made, tmp_path_factory):
    """Folder, by scheme, of the exported BERT model whose encoder computes in 8 bits."""

    @cache
    def folder(scheme="w2ner"):
        with pytest.MonkeyPatch.context() as patch:
            # Its matrices are far smaller than those worth the trouble.
            patch.setattr("trigner.inference.quantization.LARGE", 64)
            out = tmp_path_factory.mktemp("exported") / "int8"
            return export(made(scheme=scheme), out, int8=True)

    return folder


@pytest.fixture(scope="session")
def in_8_bits(quantised):
    """Folder of the exported BERT model whose encoder computes in 8 bits."""
    return quantised()


@pytest.fixture
def same_scores():
    """Compare scorers on the words of sentences, alone and padded."""

    def compare(model, scorer, sentences, tolerance=1e-4):
        expected = extractor(model, device="cpu").scorer
        subwords = model.subwords(sentences)
        for group in ([p] for p in subwords), (subwords,):
            for some in group:
                batch = collate(some, padding_id=model.padding_id)
                found, wanted = scorer(batch), expected(batch)
                for n, length in enumerate(batch.lengths):
                    own = (n, *[slice(length)] * model.scheme.tag_space.word_axes)
                    np.testing.assert_allclose(found[own], wanted[own], atol=tolerance)

    return compare
