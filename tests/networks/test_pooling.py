from __future__ import annotations

import pytest
import torch

from oracles import pair_grid_naive
from trigner.networks.pooling import WordPooling

# Two sentences; the first one's third word and the second one's padding have no pieces.
WORD_PIECES = torch.tensor(
    [
        [[1, 2, 3], [4, -1, -1], [-1, -1, -1], [5, 6, -1]],
        [[1, -1, -1], [2, 3, -1], [-1, -1, -1], [-1, -1, -1]],
    ]
)


def piece_states():
    torch.manual_seed(1)
    return torch.randn(2, 8, 5, dtype=torch.double, requires_grad=True)


@pytest.mark.parametrize("empty_word", ["zeros", "batch_minimum"])
def test_equals_the_maximum_word_by_word(empty_word):
    pieces = piece_states()
    found = WordPooling(empty_word=empty_word)(pieces, WORD_PIECES)
    expected = pair_grid_naive.word_states(pieces, WORD_PIECES, empty_word)
    assert found.equal(expected)
    if empty_word == "zeros":
        cotangent = torch.randn_like(expected)
        one, other = (torch.autograd.grad(t, pieces, cotangent)[0] for t in (found, expected))
        torch.testing.assert_close(one, other)


def test_a_word_without_pieces_is_zero_whatever_else_is_there():
    pooling = WordPooling()
    beside = pooling(piece_states() * 100 - 500, WORD_PIECES)
    alone = pooling((piece_states() * 100 - 500)[:1], WORD_PIECES[:1])
    assert (alone[0, 2] == 0).all()
    assert alone[0].equal(beside[0])


def test_w2ners_word_without_pieces_depends_on_the_batch():
    pooling, pieces = WordPooling(empty_word="batch_minimum"), piece_states().detach()
    pieces[1, 7, 0] = -77.0  # a piece of no word, of another sentence
    assert (pooling(pieces, WORD_PIECES)[0, 2] == -77.0).all()
    assert (pooling(pieces[:1], WORD_PIECES[:1])[0, 2] > -77.0).all()


def test_below_zero_the_maximum_is_still_that_of_the_pieces():
    found = WordPooling()(-piece_states().abs() - 1, WORD_PIECES)
    assert (found[0, [0, 1, 3]] <= -1).all()


def test_a_batch_of_words_without_pieces():
    found = WordPooling()(piece_states(), torch.full((2, 3, 1), -1))
    assert (found == 0).all()
    assert found.shape == (2, 3, 5)


def test_equal_pieces_share_no_more_than_one_gradient():
    pieces = torch.ones(1, 3, 2, requires_grad=True)
    WordPooling()(pieces, torch.tensor([[[0, 1, 2]]])).sum().backward()
    torch.testing.assert_close(pieces.grad.sum(1), torch.ones(1, 2))
