from __future__ import annotations

import pytest
import torch

from trigner.batches import collate
from trigner.errors import InputError
from trigner.networks import NetworkSettings, create

SIZES = {
    "lstm_size": 8,
    "distance_size": 3,
    "region_size": 3,
    "channels": 4,
    "pair_size": 6,
    "biaffine_size": 6,
    "grid_size": 5,
}
SENTENCES = [
    ["my", "left", "leg", "hurt", "and", "felt", "numb", "after", "the", "second", "tablet"],
    ["no", "pain"],
    ["\u200b", "arm"],
]


def made(encoders, kind="bert", **settings):
    torch.manual_seed(0)
    model = create(str(encoders[kind]), "w2ner", ("ADR",), NetworkSettings(**SIZES, **settings))
    model.tagger.eval()
    return model


def scores(model, sentences):
    batch = collate(model.word_pieces(sentences), padding_id=model.padding_id)
    arrays = (batch.piece_ids, batch.attention_mask, batch.word_pieces, batch.lengths)
    return model.tagger(*map(torch.from_numpy, arrays))


@pytest.mark.parametrize("kind", ["bert", "mpnet", "roberta"])
@pytest.mark.parametrize("co_predictor", ["trigner", "w2ner"])
def test_batch_mates_and_padding_change_nothing(encoders, kind, co_predictor):
    model = made(encoders, kind, co_predictor=co_predictor)
    together = scores(model, SENTENCES).logits
    for row, sentence in enumerate(SENTENCES):
        alone = scores(model, [sentence]).logits
        length = len(sentence) + model.offset
        torch.testing.assert_close(together[row, :length, :length], alone[0], atol=1e-5, rtol=1e-4)


def test_without_masks_between_they_do(encoders):
    model = made(encoders, mask_between=False)
    together = scores(model, SENTENCES).logits[1, :4, :4]
    assert not torch.allclose(together, scores(model, [SENTENCES[1]]).logits[0], atol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [
        {"pair_map": "low_rank"},
        {"pair_map": "folded"},
        {"pair_map": "full"},
        {"co_predictor": "w2ner", "special_words": False},
    ],
)
def test_gradients_reach_every_parameter(encoders, settings):
    model = made(encoders, **settings)
    model.tagger.train()
    scores(model, SENTENCES).logits.pow(2).sum().backward()
    without = {
        name
        for name, parameter in model.tagger.named_parameters()
        if parameter.grad is None or not parameter.grad.any()
    }
    # Keys have no effect through their bias: softmax is blind to what is added to all of a row.
    assert {name for name in without if not name.endswith("key.bias")} == set()


def test_pair_states_at_cells(encoders):
    model = made(encoders)
    found = scores(model, SENTENCES)
    sentences, rows, columns = torch.tensor([[0, 1], [2, 0], [5, 3]])
    states = model.tagger.pair_states(found.word_states, sentences, rows, columns)
    assert states.shape == (2, SIZES["pair_size"])
    baseline = made(encoders, co_predictor="w2ner")
    found = scores(baseline, SENTENCES)
    with pytest.raises(InputError, match="no pair states"):
        baseline.tagger.pair_states(found.word_states, sentences, rows, columns)
