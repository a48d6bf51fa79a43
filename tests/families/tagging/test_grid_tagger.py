from __future__ import annotations

import pytest
import torch

from oracles import pair_grid_naive
from tiny_encoders import KINDS
from tiny_models import make_scheme
from tiny_taggers import SENTENCES, tiny_tagger, valid_cells
from trigner.batches.subwords import SPECIAL_WORDS
from trigner.families.tagging.network_settings import GridSettings

SMALL = GridSettings(
    lstm_size=8,
    distance_size=3,
    region_size=5,
    channels=4,
    pair_size=6,
    grid_size=7,
    biaffine_size=5,
)
W2NER = make_scheme("w2ner", ("ADR", "Drug"))
CO_PREDICTORS = [
    {"co_predictor": "w2ner"},
    *({"pair_map": kind} for kind in ("full", "low_rank")),
]


def make(folder, **changes):
    return tiny_tagger(folder, W2NER, SMALL.model_copy(update=changes))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    "changes", [*CO_PREDICTORS, {"special_words": False}, {"mask_between": False}]
)
def test_equals_the_straightforward_network(encoders, changes, training):
    """Logits and gradients of every parameter; in training with the same dropout masks."""
    tagger, batch = make(encoders["mpnet"], **changes)
    tagger.train(training)
    inputs = batch(SENTENCES)
    valid = valid_cells(inputs[-1])
    torch.manual_seed(2)
    found = tagger(*inputs).logits
    torch.manual_seed(2)
    expected = pair_grid_naive.logits(tagger, *inputs)
    assert found.shape == (*valid.shape, 4)
    largest = expected[valid].abs().max()
    assert (found - expected)[valid].abs().max() < 1e-5 * largest
    parameters = dict(tagger.named_parameters())
    cotangent = torch.randn_like(expected) * valid[..., None]
    gradients, naive = (
        torch.autograd.grad(t, list(parameters.values()), cotangent) for t in (found, expected)
    )
    for name, one, other in zip(parameters, gradients, naive, strict=True):
        assert (one - other).abs().max() <= 2e-5 * max(1.0, other.abs().max().item()), name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "changes", [{"co_predictor": "w2ner"}, {"pair_map": "full"}, {"chained": False}]
)
def test_padding_and_batch_mates_change_nothing(encoders, kind, changes):
    tagger, batch = make(encoders[kind], **changes)
    tagger.eval()
    together = tagger(*batch(SENTENCES))
    for row, sentence in enumerate(SENTENCES):
        alone = tagger(*batch([sentence]))
        size = len(sentence) + 2
        difference = alone.logits[0] - together.logits[row, :size, :size]
        assert difference.abs().max() < 1e-5 * alone.logits.abs().max()
    turned = tagger(*batch(SENTENCES[::-1]))
    valid = valid_cells(batch(SENTENCES)[-1])
    torch.testing.assert_close(turned.logits.flip(0)[valid], together.logits[valid])


@pytest.mark.parametrize("changes", [{"co_predictor": "w2ner"}, {"pair_map": "full"}])
def test_the_published_network_depends_on_its_batch(encoders, changes):
    """W2NER, section 10, test 8: padding is not zero between the convolutions."""
    tagger, batch = make(encoders["bert"], mask_between=False, **changes)
    tagger.eval()
    alone = tagger(*batch(SENTENCES[:1])).logits[0]
    together = tagger(*batch(SENTENCES)).logits[0, :7, :7]
    assert (alone - together).abs().max() > 1e-3 * alone.abs().max()


def test_a_word_without_subwords_does_not_depend_on_the_batch(encoders):
    tagger, batch = make(encoders["bert"])
    tagger.eval()
    blank = ["my", "\u200b", "leg"]
    inputs = batch([blank])
    assert inputs[2][0, 3].tolist() == [-1] * inputs[2].shape[2]
    alone = tagger(*inputs).logits[0]
    beside = tagger(*batch([blank, SENTENCES[2]])).logits[0, :5, :5]
    torch.testing.assert_close(alone, beside, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("changes", CO_PREDICTORS)
def test_gradients_reach_every_parameter(encoders, changes):
    tagger, batch = make(encoders["bert"], feature_dropout=0.0, **changes)
    tagger.train()
    scores = tagger(*batch(SENTENCES))
    (scores.logits * torch.randn_like(scores.logits)).sum().backward()
    missing = [name for name, p in tagger.named_parameters() if p.grad is None]
    assert not missing
    untouched = [
        name
        for name, p in tagger.named_parameters()
        if not p.grad.any() and not name.endswith("key.bias")  # softmax does not see it
    ]
    assert not untouched
    # Rows of the tables that no cell of a sentence has: padding, and distances beyond 13 words.
    seen = tagger.features.distance.weight.grad.abs().sum(1).nonzero().flatten()
    assert seen.tolist() == [1, 2, 3, 4, 10, 11, 12, 13, 19]
    assert tagger.features.region.weight.grad.abs().sum(1).gt(0).tolist() == [False, True, True]


@pytest.mark.parametrize("kind", ["full", "low_rank"])
def test_pair_states_are_those_of_the_whole_tensor(encoders, kind):
    tagger, batch = make(encoders["bert"], pair_map=kind)
    scores = tagger(*batch(SENTENCES))
    cells = (torch.tensor([0, 2, 2]), torch.tensor([1, 0, 13]), torch.tensor([6, 3, 2]))
    expected = pair_grid_naive.pair_states(tagger.co_predictor.pairs, scores.states)[cells]
    found = tagger.pair_states(scores, *cells)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    found.sum().backward()
    assert tagger.recurrent.lstm.weight_ih_l0.grad.any()


def test_w2ners_pair_states_are_those_of_its_grid_branch(encoders):
    tagger, batch = make(encoders["bert"], co_predictor="w2ner")
    scores = tagger(*batch(SENTENCES))
    found = tagger.pair_states(scores, *([torch.tensor([0, 1])] * 3))
    assert found.shape == (2, SMALL.grid_size)
    found.sum().backward()
    assert tagger.features.reduce.weight.grad.any()
    assert tagger.co_predictor.grid.hidden.weight.grad.any()
    assert tagger.co_predictor.grid.output.weight.grad is None
    assert tagger.co_predictor.row.weight.grad is None


def test_special_words_are_words_of_the_grid(encoders):
    tagger, batch = make(encoders["bert"])
    inputs = batch([["my"]])
    assert inputs[-1].tolist() == [3]
    assert tagger(*inputs).logits.shape == (1, 3, 3, 4)
    assert len(SPECIAL_WORDS) == 2
