"""Graphs in 8 bits, and a comparison of scorers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tiny_models import export
from trigner.batches.collation import collate
from trigner.families.tagging.torch_runtime import torch_scorer

CHANGES = {"toe": {"co_predictor": "w2ner", "dilations": (1, 2)}}
"""Of the models that are exported, so that their graphs are those of other tests: TOE's takes
40 seconds."""


@pytest.fixture(scope="session")
def to_export(tiny):
    """Makes the model of a scheme that is exported."""
    return lambda scheme: tiny(scheme, **CHANGES.get(scheme, {}))


@pytest.fixture(scope="session")
def quantised(to_export, tmp_path_factory):
    """Folder, by scheme, of the exported BERT model whose encoder computes in 8 bits."""

    @cache
    def folder(scheme="w2ner"):
        with pytest.MonkeyPatch.context() as patch:
            # Its matrices are far smaller than those worth the trouble.
            patch.setattr("trigner.families.onnx.quantization.LARGE", 64)
            return export(
                to_export(scheme), tmp_path_factory.mktemp("exported") / "int8", int8=True
            )

    return folder


@pytest.fixture(scope="session")
def in_8_bits(quantised):
    """Folder of the exported w2ner model whose encoder computes in 8 bits."""
    return quantised()


@pytest.fixture
def same_scores():
    """Compare scorers on the words of sentences, alone and padded."""

    def compare(model, scorer, sentences, tolerance=1e-4):
        expected = torch_scorer(model.tagger)
        subwords = model.inputs.tokenizer(sentences)
        for group in ([p] for p in subwords), (subwords,):
            for some in group:
                batch = collate(some, padding_id=model.padding_id)
                found, wanted = scorer(batch), expected(batch)
                for n, length in enumerate(batch.lengths):
                    own = (n, *[slice(length)] * model.scheme.tag_space.word_axes)
                    np.testing.assert_allclose(found[own], wanted[own], atol=tolerance)

    return compare
