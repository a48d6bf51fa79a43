from __future__ import annotations

import pytest
import torch

from oracles import mac_tagger_naive
from trigner.families.tagging.conditional_norm import ConditionalNorm


@pytest.fixture(params=[False, True], ids=["root", "squared"])
def norm(request):
    torch.manual_seed(0)
    made = ConditionalNorm(size=6, normalised="column", squared=request.param)
    for linear in (made.scale, made.shift):
        torch.nn.init.normal_(linear.weight)
    return made


def test_equals_the_formula(norm):
    states, weight = torch.randn(2, 5, 6), torch.randn(3, 6)
    expected = mac_tagger_naive.normalised(states, norm)
    found = norm(states, states, weight[None], torch.tensor([5, 3])).permute(0, 2, 3, 1)
    wanted = expected @ weight.t()
    torch.testing.assert_close(found[0], wanted[0], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(found[1, :3, :3], wanted[1, :3, :3], rtol=1e-4, atol=1e-4)
    cells = (torch.tensor([0, 1, 1]), torch.tensor([4, 0, 2]), torch.tensor([1, 0, 4]))
    torch.testing.assert_close(norm.states_at(states, *cells), expected[cells])


def test_it_starts_as_a_plain_layer_norm_of_the_column():
    states = torch.randn(1, 4, 6)
    cells = (torch.zeros(4, dtype=torch.int64), torch.arange(4), torch.tensor([3, 0, 2, 2]))
    found = ConditionalNorm(size=6, normalised="column").states_at(states, *cells)
    expected = torch.nn.functional.layer_norm(states, (6,), eps=1e-12)[0, cells[2]]
    torch.testing.assert_close(found, expected)


def test_the_squared_form_does_not_normalise():
    norm = ConditionalNorm(size=6, normalised="column", squared=True)
    states = 3 * torch.randn(1, 2, 6)
    cells = [torch.zeros(1, dtype=torch.int64)] * 3
    found = norm.states_at(states, *cells).detach()
    assert abs(float(found.std(unbiased=False)) - 1) > 0.1


def test_either_word_can_be_the_normalised_one():
    torch.manual_seed(1)
    by_row, by_column = (ConditionalNorm(size=6, normalised=n) for n in ("row", "column"))
    for linear in (by_row.scale, by_row.shift):
        torch.nn.init.normal_(linear.weight)
    by_column.load_state_dict(by_row.state_dict())
    rows, columns, weight = torch.randn(2, 5, 6), torch.randn(2, 5, 6), torch.randn(2, 3, 6)
    lengths = torch.tensor([5, 5])
    one = by_row(rows, columns, weight, lengths)
    other = by_column(columns, rows, weight, lengths).transpose(2, 3)
    torch.testing.assert_close(one, other)
    cells = [torch.tensor([0, 1]), torch.tensor([4, 2]), torch.tensor([1, 0])]
    turned = by_column.states_at(rows, cells[0], cells[2], cells[1])
    torch.testing.assert_close(by_row.states_at(rows, *cells), turned)
