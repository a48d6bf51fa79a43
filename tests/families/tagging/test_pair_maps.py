from __future__ import annotations

import pytest
import torch

from oracles import pair_grid_naive
from trigner.families.tagging.pair_maps import (
    FullPairMap,
    LowRankPairMap,
    pair_map,
    trilinear,
    with_one,
)

KINDS = {"full": FullPairMap, "low_rank": LowRankPairMap}


def make(kind, size=20):
    torch.manual_seed(1)
    return pair_map(kind, input_size=6, size=size, classes=3).double()


def draw_states():
    torch.manual_seed(2)
    return torch.randn(2, 5, 6, dtype=torch.double, requires_grad=True)


CELLS = (
    torch.tensor([0, 0, 1, 1, 1, 0]),
    torch.tensor([0, 4, 2, 2, 3, 4]),
    torch.tensor([3, 0, 2, 2, 1, 0]),
)


def assert_same(found, expected, layer, states):
    """Equal values, and equal gradients of everything that `expected` depends on."""
    torch.testing.assert_close(found, expected)
    inputs = [states, *layer.parameters()]
    cotangent = torch.randn_like(expected)
    names = ["states", *(name for name, _ in layer.named_parameters())]
    for name, one, other in zip(
        names,
        torch.autograd.grad(found, inputs, cotangent, allow_unused=True),
        torch.autograd.grad(expected, inputs, cotangent, allow_unused=True),
        strict=True,
    ):
        assert (one is None) == (other is None), name
        if other is not None:
            assert other.abs().max() > 0, name
            torch.testing.assert_close(one, other, msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_equal_the_whole_pair_tensor(kind):
    layer, states = make(kind), draw_states()
    assert isinstance(layer, KINDS[kind])
    expected = pair_grid_naive.pair_scores(layer, states)
    assert expected.shape == (2, 3, 5, 5)
    assert_same(layer(states), expected, layer, states)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [20, 16, 1])
def test_states_at_cells_equal_the_whole_pair_tensor(kind, size):
    """Also where the outputs are no multiple of the slice that is computed at once."""
    layer, states = make(kind, size), draw_states()
    expected = pair_grid_naive.pair_states(layer, states)[CELLS]
    assert expected.shape == (6, size)
    assert_same(layer.states_at(states, *CELLS), expected, layer, states)


@pytest.mark.parametrize("kind", KINDS)
def test_states_at_no_cells(kind):
    none = torch.zeros(0, dtype=torch.long)
    found = make(kind).states_at(draw_states(), none, none, none)
    assert found.shape == (0, 20)


def test_states_at_every_cell_in_single_precision():
    """Within rounding of the whole tensor at the paper's width."""
    torch.manual_seed(3)
    layer = FullPairMap(input_size=64, size=50, classes=3)
    states = torch.randn(2, 7, 64)
    cells = torch.cartesian_prod(torch.arange(2), torch.arange(7), torch.arange(7)).unbind(1)
    expected = pair_grid_naive.pair_states(layer, states)
    scores = pair_grid_naive.pair_scores(layer, states)
    with torch.no_grad():
        found = layer.states_at(states, *cells).view(2, 7, 7, 50)
        assert (found - expected).abs().max() < 1e-5 * expected.abs().max()
        assert (layer(states) - scores).abs().max() < 1e-5 * scores.abs().max()


def test_the_full_map_has_the_released_weights_shape():
    layer = FullPairMap(input_size=6, size=20, classes=3)
    assert layer.weight.shape == (20, 7, 7)
    # Xavier's normal over [outputs, 7, 7] counts the last two dimensions as a receptive field.
    expected = (2 / (20 * 7 + 7 * 7)) ** 0.5
    assert layer.weight.std().item() == pytest.approx(expected, rel=0.1)


def test_the_order_of_a_pair_matters():
    layer, states = make("full"), draw_states()
    scores = layer(states)
    assert not torch.allclose(scores, scores.transpose(2, 3))


def test_trilinear_and_the_constant_one():
    torch.manual_seed(4)
    left, right = torch.randn(2, 3, 4), torch.randn(2, 3, 5)
    weight = torch.randn(6, 4, 5)
    expected = torch.einsum("bid,cde,bje->bcij", left, weight, right)
    torch.testing.assert_close(trilinear(left, weight, right), expected)
    assert with_one(left).shape == (2, 3, 5)
    assert (with_one(left)[..., -1] == 1).all()
