from __future__ import annotations

import torch

from oracles import pair_grid_naive
from trigner.networks.recurrent import BiLstm

LENGTHS = torch.tensor([3, 6, 1])


def layer(dropout=0.0):
    torch.manual_seed(1)
    return BiLstm(input_size=5, size=8, dropout=dropout)


def words():
    torch.manual_seed(2)
    return torch.randn(3, 6, 5, requires_grad=True)


def test_equals_one_sentence_at_a_time():
    lstm, states = layer(), words()
    found = lstm(states, LENGTHS)
    expected = pair_grid_naive.in_context(lstm.lstm, states, LENGTHS.tolist())
    torch.testing.assert_close(found, expected)
    inputs = [states, *lstm.parameters()]
    cotangent = torch.randn_like(expected)
    for one, other in zip(
        torch.autograd.grad(found, inputs, cotangent),
        torch.autograd.grad(expected, inputs, cotangent),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_packed_and_padded_sequences_give_the_same():
    lstm, states = layer().double(), words().double()
    torch.testing.assert_close(lstm._packed(states, LENGTHS), lstm._padded(states, LENGTHS))


def test_padding_is_zero_and_is_not_read():
    lstm, states = layer(), words().detach()
    before = lstm(states, LENGTHS)
    states[0, 3:] = 1000.0
    assert lstm(states, LENGTHS).equal(before)
    assert (before[0, 3:] == 0).all()
    assert (before[2, 1:] == 0).all()
    assert before.shape == (3, 6, 8)


def test_padding_beyond_the_longest_sentence_is_kept():
    assert layer()(words(), torch.tensor([3, 4, 1])).shape == (3, 6, 8)


def test_dropout_is_on_the_words_and_only_in_training():
    lstm = layer(dropout=0.5)
    states = words()
    torch.manual_seed(3)
    found = lstm(states, LENGTHS)
    torch.manual_seed(3)
    dropped = lstm.dropout(states)
    torch.testing.assert_close(found, lstm.eval()(dropped, LENGTHS))
    assert lstm(states, LENGTHS).equal(lstm(states, LENGTHS))


def test_full_precision_under_autocast():
    lstm, states = layer(), words()
    with torch.autocast("cpu", torch.bfloat16):
        found = lstm(states.bfloat16(), LENGTHS)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, lstm(states.bfloat16().float(), LENGTHS))
