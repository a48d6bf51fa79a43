from __future__ import annotations

import numpy as np
import pytest
import torch

from tiny_models import LAST_LAYERS, TEXT, tiny_model
from trigner.batches import collate
from trigner.errors import InputError
from trigner.mentions import Document, Entity
from trigner.tagging.bias_init import initialise_biases, tag_shares
from trigner.tagging.torch_runtime import torch_scorer
from trigner.training.data import prepare

DOCUMENTS = [
    Document(
        "d1",
        "numb left and right arm.",
        (
            Entity("ADR", ((0, 9), (20, 23)), "numb left arm"),
            Entity("ADR", ((0, 4), (14, 23)), "numb right arm"),
        ),
    ),
    Document("d2", "no pain."),
    Document("d3", "aspirin, then pain", (Entity("Drug", ((0, 7),), "aspirin"),)),
]
GRIDS = ["w2ner", "toe", "mac", "mac_minimal"]


def naive_shares(scheme, examples, offset):
    """Cell by cell and tag by tag."""
    shares = []
    for tag in range(len(scheme.tags)):
        upper = any(g.upper and g.start <= tag < g.stop for g in scheme.groups)
        there, cells = 1, 2
        for example in examples:
            tags = scheme.encode(example.mentions, example.length).tags
            for i in range(-offset, example.length):
                for j in range(-offset, example.length):
                    special = min(i, j) < 0
                    if upper and i > j:
                        continue
                    cells += 1
                    if tags.ndim == 2:
                        there += tag == (0 if special else tags[i, j])
                    else:
                        there += 0 if special else tags[i, j, tag]
        shares.append(there / cells)
    return shares


@pytest.mark.parametrize("scheme", GRIDS)
@pytest.mark.parametrize("special_words", [True, False])
def test_shares_are_those_of_the_cells(tmp_path, scheme, special_words):
    model = tiny_model(tmp_path, scheme, special_words=special_words)
    examples = prepare(DOCUMENTS, model).examples
    shares = tag_shares(model.scheme, examples, offset=model.offset)
    np.testing.assert_allclose(
        shares, naive_shares(model.scheme, examples, model.offset), rtol=1e-12
    )


@pytest.mark.parametrize("scheme", GRIDS)
def test_scores_without_weights_are_the_shares(tmp_path, scheme):
    model = tiny_model(tmp_path, scheme)
    with torch.no_grad():
        for name, parameter in model.tagger.named_parameters():
            if not name.startswith("encoder."):
                parameter.zero_()
    examples = prepare(DOCUMENTS, model).examples
    initialise_biases(model, examples)
    batch = collate(model.subwords([TEXT.split()]), padding_id=model.padding_id)
    logits = torch.from_numpy(torch_scorer(model.tagger)(batch))
    given = logits.softmax(-1) if scheme == "w2ner" else logits.sigmoid()
    shares = tag_shares(model.scheme, examples, offset=model.offset)
    if scheme == "w2ner":
        shares = shares / shares.sum()
    np.testing.assert_allclose(
        given.numpy(), np.broadcast_to(shares, given.shape), rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize("scheme", sorted(set(LAST_LAYERS) - set(GRIDS)))
def test_single_words_have_no_prior(tmp_path, scheme):
    model = tiny_model(tmp_path, scheme)
    with pytest.raises(InputError, match="no word pairs"):
        model.tagger.initialise_bias(torch.zeros(len(model.scheme.tags)))
