from __future__ import annotations

import pytest
import torch

from trigner.networks.dropout import Dropout, dropout


@pytest.mark.parametrize("rate", [0.1, 0.33, 0.5, 0.9])
def test_the_share_dropped_and_the_scale(rate):
    torch.manual_seed(1)
    found = dropout(torch.ones(400, 500), rate, True)
    kept = found[found != 0]
    assert 1 - len(kept) / found.numel() == pytest.approx(rate, abs=0.004)
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - rate)), rtol=2e-4, atol=0)
    assert found.mean().item() == pytest.approx(1, abs=0.015)


def test_numbers_of_one_draw_are_independent():
    torch.manual_seed(2)
    kept = (dropout(torch.ones(100_000, 4), 0.5, True) != 0).double()
    correlations = torch.corrcoef(kept.T) - torch.eye(4)
    assert correlations.abs().max() < 0.02


def test_gradients_pass_where_values_passed():
    torch.manual_seed(3)
    values = torch.randn(3, 5, 7, dtype=torch.double, requires_grad=True)
    found = dropout(values, 0.5, True)
    (gradient,) = torch.autograd.grad(found.sum(), values)
    torch.testing.assert_close(gradient * values, found)
    assert 0 < found.count_nonzero() < found.numel()


def test_the_seed_decides():
    values = torch.ones(50)
    masks = []
    for seed in (4, 4, 5):
        torch.manual_seed(seed)
        masks.append(dropout(values, 0.5, True))
    assert masks[0].equal(masks[1])
    assert not masks[0].equal(masks[2])


@pytest.mark.parametrize("shape", [(0,), (1,), (3,), (2, 0, 4)])
def test_odd_sizes(shape):
    assert dropout(torch.ones(shape), 0.5, True).shape == shape


def test_nothing_is_dropped_at_rate_zero_or_outside_training():
    values = torch.randn(9)
    assert dropout(values, 0.0, True) is values
    assert Dropout(0.5).eval()(values) is values
    assert Dropout(0.5)(values.bfloat16()).dtype == torch.bfloat16
