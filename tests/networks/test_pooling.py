from __future__ import annotations

import pytest
import torch

from oracles import pair_grid_naive
from trigner.networks.pooling import WordPooling

# Two sentences; the first one's third word and the second one's padding have no subwords.
WORD_SUBWORDS = torch.tensor(
    [
        [[1, 2, 3], [4, -1, -1], [-1, -1, -1], [5, 6, -1]],
        [[1, -1, -1], [2, 3, -1], [-1, -1, -1], [-1, -1, -1]],
    ]
)


def subword_states():
    torch.manual_seed(1)
    return torch.randn(2, 8, 5, dtype=torch.double, requires_grad=True)


@pytest.mark.parametrize("empty_word", ["zeros", "batch_minimum"])
def test_equals_the_maximum_word_by_word(empty_word):
    subwords = subword_states()
    found = WordPooling(empty_word=empty_word)(subwords, WORD_SUBWORDS)
    expected = pair_grid_naive.word_states(subwords, WORD_SUBWORDS, empty_word)
    assert found.equal(expected)
    if empty_word == "zeros":
        cotangent = torch.randn_like(expected)
        one, other = (torch.autograd.grad(t, subwords, cotangent)[0] for t in (found, expected))
        torch.testing.assert_close(one, other)


def test_a_word_without_subwords_is_zero_whatever_else_is_there():
    pooling = WordPooling()
    beside = pooling(subword_states() * 100 - 500, WORD_SUBWORDS)
    alone = pooling((subword_states() * 100 - 500)[:1], WORD_SUBWORDS[:1])
    assert (alone[0, 2] == 0).all()
    assert alone[0].equal(beside[0])


def test_w2ners_word_without_subwords_depends_on_the_batch():
    pooling, subwords = WordPooling(empty_word="batch_minimum"), subword_states().detach()
    subwords[1, 7, 0] = -77.0  # a subword of no word, of another sentence
    assert (pooling(subwords, WORD_SUBWORDS)[0, 2] == -77.0).all()
    assert (pooling(subwords[:1], WORD_SUBWORDS[:1])[0, 2] > -77.0).all()


def test_below_zero_the_maximum_is_still_that_of_the_subwords():
    found = WordPooling()(-subword_states().abs() - 1, WORD_SUBWORDS)
    assert (found[0, [0, 1, 3]] <= -1).all()


def test_a_batch_of_words_without_subwords():
    found = WordPooling()(subword_states(), torch.full((2, 3, 1), -1))
    assert (found == 0).all()
    assert found.shape == (2, 3, 5)


def test_equal_subwords_share_no_more_than_one_gradient():
    subwords = torch.ones(1, 3, 2, requires_grad=True)
    WordPooling()(subwords, torch.tensor([[[0, 1, 2]]])).sum().backward()
    torch.testing.assert_close(subwords.grad.sum(1), torch.ones(1, 2))


def test_no_gradient_comes_from_words_without_subwords():
    subwords = subword_states().detach().requires_grad_()
    only_empty = torch.full((2, 3, 1), -1)
    found = WordPooling(empty_word="batch_minimum")(subwords, only_empty)
    assert found.unique().numel() == 1
    assert not found.requires_grad or not torch.autograd.grad(found.sum(), subwords)[0].any()
