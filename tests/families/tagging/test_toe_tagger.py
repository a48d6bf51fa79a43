from __future__ import annotations

import pytest
import torch

from oracles import toe_network_naive
from tiny_models import SIZES, make_scheme, small_settings
from tiny_taggers import SENTENCES, tiny_tagger, valid_cells

TOE = make_scheme("toe", ("ADR", "Drug"))


def make(folder, rounds=3, mask_padding=True, **changes):
    toe = {**SIZES["toe"], "rounds": rounds, "mask_padding": mask_padding}
    settings = small_settings("toe", **{"co_predictor": "w2ner", "toe": toe, **changes})
    return tiny_tagger(folder, TOE, settings)


def untouched(tagger):
    """Parameters without a gradient, but for those that softmax does not see."""
    return {
        name
        for name, p in tagger.named_parameters()
        if (p.grad is None or not p.grad.any()) and not name.endswith("key.bias")
    }


def loss(scores):
    torch.manual_seed(7)
    return (scores.logits * torch.randn_like(scores.logits)).sum()


@pytest.mark.parametrize("changes", [{}, {"co_predictor": "trigner"}, {"rounds": 1}])
def test_equals_the_straightforward_network(encoders, changes):
    """Sentence by sentence, without padding; values and gradients of every parameter."""
    tagger, batch = make(encoders["bert"], **changes)
    tagger.eval()
    inputs = batch(SENTENCES)
    found = tagger(*inputs).logits
    parameters = dict(tagger.named_parameters())
    expected = []
    for sentence in SENTENCES:
        logits = toe_network_naive.logits(tagger, *batch([sentence]))
        size = len(sentence) + 2
        assert logits.shape == (size, size, 9)
        expected.append(logits.flatten())
    flat, valid = torch.cat(expected), found[valid_cells(inputs[-1])].flatten()
    torch.testing.assert_close(valid, flat, rtol=1e-4, atol=1e-5)
    cotangent = torch.randn_like(flat)
    gradients, naive = (
        torch.autograd.grad(t, list(parameters.values()), cotangent, allow_unused=True)
        for t in (valid, flat)
    )
    for name, one, other in zip(parameters, gradients, naive, strict=True):
        assert (one is None) == (other is None), name
        if one is not None:
            assert (one - other).abs().max() <= 1e-4 * max(1.0, other.abs().max().item()), name


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
@pytest.mark.parametrize("special_words", [True, False])
def test_padding_and_batch_mates_change_nothing(encoders, kind, special_words):
    tagger, batch = make(encoders[kind], special_words=special_words)
    tagger.eval()
    together = tagger(*batch(SENTENCES)).logits
    for row, sentence in enumerate(SENTENCES):
        alone = tagger(*batch([sentence])).logits[0]
        size = len(alone)
        difference = alone - together[row, :size, :size]
        assert difference.abs().max() < 1e-5 * alone.abs().max()


def test_the_released_network_depends_on_its_batch(encoders):
    tagger, batch = make(encoders["bert"], mask_padding=False)
    tagger.eval()
    alone = tagger(*batch(SENTENCES[:1])).logits[0]
    together = tagger(*batch(SENTENCES)).logits[0, :7, :7]
    assert (alone - together).abs().max() > 1e-3 * alone.abs().max()


def test_gradients_reach_every_parameter(encoders):
    tagger, batch = make(encoders["bert"], feature_dropout=0.0)
    tagger.train()
    loss(tagger(*batch(SENTENCES))).backward()
    assert untouched(tagger) == set()


def test_with_one_round_the_attention_learns_nothing(encoders):
    tagger, batch = make(encoders["bert"], rounds=1, feature_dropout=0.0)
    tagger.train()
    loss(tagger(*batch(SENTENCES))).backward()
    idle = {".".join(name.split(".")[:2]) for name in untouched(tagger)}
    assert idle == {"enhancement.attention", "enhancement.from_rows", "enhancement.from_columns"}


def test_each_group_has_its_own_co_predictor(encoders):
    tagger, batch = make(encoders["bert"])
    (main, auxiliary) = TOE.groups
    for group, own, other in (
        (main, tagger.main, tagger.auxiliary),
        (auxiliary, tagger.auxiliary, tagger.main),
    ):
        tagger.zero_grad()
        tagger(*batch(SENTENCES)).logits[..., group.start : group.stop].sum().backward()
        assert own.weight.grad.any()
        assert other.weight.grad is None or not other.weight.grad.any()


@pytest.mark.parametrize("co_predictor", ["w2ner", "trigner"])
def test_pair_states_are_what_the_main_predictors_grid_branch_reads_last(encoders, co_predictor):
    tagger, batch = make(encoders["bert"], co_predictor=co_predictor)
    tagger.eval()
    scores = tagger(*batch(SENTENCES))
    cells = (torch.tensor([0, 2, 2]), torch.tensor([1, 0, 13]), torch.tensor([6, 3, 2]))
    found = tagger.pair_states(scores, *cells)
    assert found.shape == (3, SIZES["grid_size"])
    if co_predictor == "w2ner":
        tagger.main.weight.data.zero_()
    else:
        tagger.main.pairs.output.weight.data.zero_()
        tagger.main.pairs.output.bias.data.zero_()
    of_grid = tagger.main.grid.output(found[:, :, None, None])[:, :, 0, 0]
    torch.testing.assert_close(of_grid, tagger(*batch(SENTENCES)).logits[cells][:, :6])
    tagger.zero_grad()
    found.sum().backward()
    assert tagger.enhancement.attention.linear1.weight.grad.any()
    assert tagger.main_features.weight.grad.any()
    assert tagger.main.grid.hidden.weight.grad.any()
    assert tagger.main.grid.output.weight.grad is None
    own = tagger.main.row if co_predictor == "w2ner" else tagger.main.pairs.left
    assert own.weight.grad is None
    assert tagger.auxiliary_features.weight.grad is None


def test_bfloat16(encoders):
    tagger, batch = make(encoders["bert"])
    with torch.autocast("cpu", torch.bfloat16):
        scores = tagger(*batch(SENTENCES))
    loss(scores).backward()
    valid = valid_cells(batch(SENTENCES)[-1])
    assert scores.logits[valid].isfinite().all()
    assert untouched(tagger) == set()
