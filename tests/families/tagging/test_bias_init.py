from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch

from tiny_models import LAST_LAYERS, TEXT
from trigner.batches.collation import collate
from trigner.families.tagging.bias_init import initialise_biases, tag_shares
from trigner.families.tagging.system import TagSystem
from trigner.families.tagging.torch_runtime import torch_scorer
from trigner.mentions import Document, Entity
from trigner.text.segmentation import segment
from trigner.training.settings import resolve

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
GRIDS = ["w2ner", "toe", "mac", "mac_minimal", "span_grid", "gap_grid"]


def examples_of(model):
    """The documents as training examples."""
    sentences = [sentence for document in DOCUMENTS for sentence in segment(document).sentences]
    return model.inputs.prepare(sentences).inputs


def naive_shares(scheme, examples, offset):
    """Cell by cell and tag by tag."""
    shares = []
    for tag in range(len(scheme.tags)):
        where = {g.triangle for g in scheme.groups if g.start <= tag < g.stop}
        there, cells = 1, 2
        for example in examples:
            tags = scheme.encode(example.mentions, example.length).tags
            for i in range(-offset, example.length):
                for j in range(-offset, example.length):
                    special = min(i, j) < 0
                    if (where == {"upper"} and i > j) or (where == {"lower"} and i < j):
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
def test_shares_are_those_of_the_cells(tiny, scheme, special_words):
    model = tiny(scheme, special_words=special_words)
    examples = examples_of(model)
    shares = tag_shares(model.scheme, examples, offset=model.inputs.offset)
    np.testing.assert_allclose(
        shares, naive_shares(model.scheme, examples, model.inputs.offset), rtol=1e-12
    )


@pytest.mark.parametrize("scheme", GRIDS)
def test_scores_without_weights_are_the_shares(tiny, scheme):
    model = replace(tiny(scheme), tagger=deepcopy(tiny(scheme).tagger))
    with torch.no_grad():
        for name, parameter in model.tagger.named_parameters():
            if not name.startswith("encoder."):
                parameter.zero_()
    examples = examples_of(model)
    initialise_biases(model, examples)
    batch = collate(model.inputs.tokenizer([TEXT.split()]), padding_id=model.padding_id)
    logits = torch.from_numpy(torch_scorer(model.tagger)(batch))
    given = logits.softmax(-1) if scheme == "w2ner" else logits.sigmoid()
    shares = tag_shares(model.scheme, examples, offset=model.inputs.offset)
    if scheme == "w2ner":
        shares = shares / shares.sum()
    np.testing.assert_allclose(
        given.numpy(), np.broadcast_to(shares, given.shape), rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize("scheme", LAST_LAYERS)
def test_only_scores_of_word_pairs_start_at_the_shares(tiny, scheme):
    model = replace(tiny(scheme), tagger=deepcopy(tiny(scheme).tagger))
    before = deepcopy(model.tagger.state_dict())
    wanted = "optimisation.bias_init"
    settings = resolve(
        options={"system": scheme}, assignments=[f"{wanted}=true"], optional=[wanted]
    )
    TagSystem(model, settings).initialise(examples_of(model))
    same = all(before[name].equal(own) for name, own in model.tagger.state_dict().items())
    assert same == (scheme not in GRIDS)
