from __future__ import annotations

import itertools

import pytest
import torch
from torch.nn import functional

from oracles import pair_grid_naive
from trigner.families.tagging.pair_features import PairFeatures

LENGTHS = [7, 4, 1]
SWITCHES = list(itertools.product(["row", "column"], [True, False], [True, False]))


def layer(channels=6, **options):
    """A layer in double precision, without the zeros that its conditional norm starts with."""
    torch.manual_seed(4)
    made = PairFeatures(size=8, distance_size=5, region_size=4, channels=channels, **options)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return made.double()


def grid_mask(lengths):
    inside = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return inside[:, :, None] & inside[:, None]


def word_states(lengths, size=8):
    """Random states, zero in padding, as the BiLSTM gives them."""
    torch.manual_seed(5)
    inside = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    states = torch.randn(len(lengths), max(lengths), size).double() * inside[:, :, None]
    return states.requires_grad_()


@pytest.mark.parametrize("normalised", ["row", "column"])
def test_the_second_words_may_have_states_of_their_own(normalised):
    features = layer(normalised=normalised).train()
    states, columns = word_states(LENGTHS), word_states(LENGTHS).detach().flip(2)
    columns.requires_grad_()
    torch.manual_seed(6)
    found = features(states, grid_mask(LENGTHS), columns)
    torch.manual_seed(6)
    expected = pair_grid_naive.pair_features(features, states, LENGTHS, columns)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)
    cotangent = torch.randn_like(expected)
    inputs = [states, columns, *features.parameters()]
    for one, other in zip(
        torch.autograd.grad(found, inputs, cotangent),
        torch.autograd.grad(expected, inputs, cotangent),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("channels", [6, 12], ids=["fewer channels", "more channels than words"])
@pytest.mark.parametrize(("normalised", "chained", "mask_between"), SWITCHES)
@pytest.mark.parametrize("training", [True, False])
def test_equals_the_whole_pair_grid(channels, normalised, chained, mask_between, training):
    """Values, gradients and, in training, the channels that dropout drops."""
    features = layer(channels, normalised=normalised, chained=chained, mask_between=mask_between)
    features.train(training)
    states = word_states(LENGTHS)
    torch.manual_seed(6)
    found = features(states, grid_mask(LENGTHS))
    torch.manual_seed(6)
    expected = pair_grid_naive.pair_features(features, states, LENGTHS)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-12)
    inputs = [states, *features.parameters()]
    cotangent = torch.randn_like(expected)
    names = ["states", *(name for name, _ in features.named_parameters())]
    for name, one, other in zip(
        names,
        torch.autograd.grad(found, inputs, cotangent),
        torch.autograd.grad(expected, inputs, cotangent),
        strict=True,
    ):
        assert other.abs().max() > 0, name
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-10, msg=name)


def test_single_precision_stays_within_rounding():
    features = layer(80, dropout=0.0).float()
    states = word_states([12, 7]).float()
    found = features(states, grid_mask([12, 7]))
    expected = pair_grid_naive.pair_features(features, states, [12, 7])
    assert (found - expected).abs().max() < 1e-5 * expected.abs().max()


def test_dropout_drops_whole_channels_of_the_grid():
    features = layer()
    torch.manual_seed(8)
    kept = functional.dropout2d(torch.ones(3, features.reduce.in_features, 7, 7), 0.5)
    assert set(kept.flatten(2).std(dim=2).flatten().tolist()) == {0.0}
    states = word_states(LENGTHS)
    torch.manual_seed(8)
    dropped = features(states, grid_mask(LENGTHS))
    features.eval()
    for row, length in enumerate(LENGTHS):
        features.reduce.weight.data *= (own := kept[row, :, 0, 0]).double()
        expected = features(states[row : row + 1], grid_mask(LENGTHS)[row : row + 1])
        torch.testing.assert_close(dropped[row], expected[0])
        assert length == LENGTHS[row]
        assert 0 < own.count_nonzero() < len(own)
        features = layer().eval()


@pytest.mark.parametrize("normalised", ["row", "column"])
def test_the_conditional_norm_starts_as_a_plain_layer_norm(normalised):
    """W2NER, section 10, test 3: nothing of the other word is seen before training."""
    torch.manual_seed(1)
    made = PairFeatures(
        size=8, channels=3, dilations=(1,), dropout=0.0, normalised=normalised
    ).double()
    states = word_states([5])
    plain = functional.layer_norm(states, (8,), eps=1e-12)
    broadcast = plain[:, :, None] if normalised == "row" else plain[:, None]
    norm = pair_grid_naive.conditional_layer_norm(states, states, made)
    torch.testing.assert_close(norm, broadcast.expand(1, 5, 5, 8))
    # The first layer alone: its distance and region parts taken away.
    reduced = made._reduced(states, states, torch.tensor([5]))
    made.distance.weight.data.zero_()
    made.region.weight.data.zero_()
    without = made._reduced(states, states, torch.tensor([5]))
    assert not torch.allclose(reduced, without)
    expected = torch.einsum("cd,bijd->bcij", made.reduce.weight[:, 40:], norm)
    torch.testing.assert_close(without, expected)


@pytest.mark.parametrize("chained", [True, False])
def test_padding_changes_nothing_with_masks_between(chained):
    """W2NER, section 10, test 8; with one sentence of 5 words alone and next to a longer one."""
    features = layer(chained=chained, mask_between=True).eval()
    states = word_states([5, 9])
    alone = features(states[:1, :5], grid_mask([5]))
    beside = features(states, grid_mask([5, 9]))[:1, :, :5, :5]
    torch.testing.assert_close(alone, beside)


@pytest.mark.parametrize("chained", [True, False])
def test_padding_reaches_the_borders_without_masks_between(chained):
    features = layer(chained=chained, mask_between=False).eval()
    states = word_states([16, 20])
    alone = features(states[:1, :16], grid_mask([16]))
    beside = features(states, grid_mask([16, 20]))[:1, :, :16, :16]
    assert not torch.allclose(alone, beside)
    reach = 1 + 2 + 3 if chained else 3
    inner = 16 - reach
    torch.testing.assert_close(alone[:, :, :inner, :inner], beside[:, :, :inner, :inner])


@pytest.mark.parametrize("mask_between", [True, False])
def test_padded_cells_are_zero(mask_between):
    found = layer(mask_between=mask_between)(word_states(LENGTHS), grid_mask(LENGTHS))
    assert found.shape == (3, 18, 7, 7)
    assert (found.masked_select(~grid_mask(LENGTHS)[:, None]) == 0).all()
    assert (found.masked_select(grid_mask(LENGTHS)[:, None]) != 0).any()


def test_other_dilations():
    features = layer(dilations=(2,), dropout=0.0)
    states = word_states(LENGTHS)
    expected = pair_grid_naive.pair_features(features, states, LENGTHS)
    torch.testing.assert_close(features(states, grid_mask(LENGTHS)), expected)
    assert features.out_channels == 6
