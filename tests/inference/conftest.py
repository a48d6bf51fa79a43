"""Small models with random weights that find mentions, and their exported folders."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tiny_encoders import tiny_encoder
from trigner.batches import collate
from trigner.inference import export, extractor
from trigner.inference.torch_runtime import torch_scorer
from trigner.networks import NetworkSettings, create

SMALL = NetworkSettings(
    lstm_size=8, distance_size=3, region_size=3, channels=4, pair_size=6, grid_size=5
)


def make(folder, kind="bert", **changes):
    """A model around a tiny encoder, no class ahead of the others on average: it tags some cells
    of each."""
    encoder = tiny_encoder(folder, kind, head=False)
    torch.manual_seed(1)
    model = create(str(encoder), "w2ner", ("ADR", "Drug"), SMALL.model_copy(update=changes))
    probe = model.word_pieces([["my", "left", "leg", "hurt", ".", "no", "pain", "in", "arm"]])
    batch = collate(probe, padding_id=model.padding_id)
    mean = torch.from_numpy(torch_scorer(model.tagger)(batch).mean(axis=(0, 1, 2)))
    with torch.no_grad():
        model.tagger.co_predictor.grid.output.bias -= mean
    return model


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Model by encoder kind and network settings, made once."""
    models = {}

    def model(kind="bert", **changes):
        key = (kind, *sorted(changes.items()))
        if key not in models:
            models[key] = make(tmp_path_factory.mktemp("encoder") / kind, kind, **changes)
        return models[key]

    return model


@pytest.fixture(scope="session")
def exported(made, tmp_path_factory):
    """Folder of the exported BERT model."""
    return export(made(), tmp_path_factory.mktemp("exported") / "float32")


@pytest.fixture(scope="session")
def in_8_bits(made, tmp_path_factory):
    """Folder of the exported BERT model whose encoder computes in 8 bits."""
    with pytest.MonkeyPatch.context() as patch:
        # Its matrices are far smaller than those worth the trouble.
        patch.setattr("trigner.inference.quantization.LARGE", 64)
        return export(made(), tmp_path_factory.mktemp("exported") / "int8", int8=True)


@pytest.fixture
def same_scores():
    """Compare scorers on the words of sentences, alone and padded."""

    def compare(model, scorer, sentences, tolerance=1e-4):
        expected = extractor(model, device="cpu").scorer
        pieces = model.word_pieces(sentences)
        for group in ([p] for p in pieces), (pieces,):
            for some in group:
                batch = collate(some, padding_id=model.padding_id)
                found, wanted = scorer(batch), expected(batch)
                for n, length in enumerate(batch.lengths):
                    own = np.s_[n, :length, :length]
                    np.testing.assert_allclose(found[own], wanted[own], atol=tolerance)

    return compare
