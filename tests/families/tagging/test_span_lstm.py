from __future__ import annotations

import pytest
import torch

from oracles import mac_tagger_naive
from trigner.families.tagging.span_lstm import SpanLstm


def make(reach):
    torch.manual_seed(0)
    spans = SpanLstm(input_size=5, size=4, reach=reach)
    return spans, torch.randn(3, 7, 5), torch.tensor([7, 4, 1]), torch.randn(2, 4)


@pytest.mark.parametrize("reach", [None, 1, 3, 7, 20])
def test_each_span_is_read_by_itself(reach):
    spans, words, lengths, read = make(reach)
    scores = spans(words, lengths, read)
    count = min(7, reach or 7)
    assert scores.shape == (3, 7, count, 2)
    expected = mac_tagger_naive.span_states(words, spans) @ read.t()
    for i in range(7):
        for j in range(i, 7):
            own = scores[:, i, min(j - i, count - 1)]
            torch.testing.assert_close(own, expected[:, i, j], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reach", [None, 3])
def test_gradients_are_those_of_spans_by_themselves(reach):
    spans, words, lengths, read = make(reach)
    words.requires_grad_()
    count = min(7, reach or 7)
    upper = [(i, j) for i in range(7) for j in range(i, min(7, i + count))]
    rows, columns = torch.tensor(upper).t()
    cotangent = torch.randn(3, len(upper), 2)
    inputs = [words, *spans.parameters()]
    found = spans(words, lengths, read)[:, rows, columns - rows]
    expected = (mac_tagger_naive.span_states(words, spans) @ read.t())[:, rows, columns]
    for one, other in zip(
        torch.autograd.grad(found, inputs, cotangent),
        torch.autograd.grad(expected, inputs, cotangent),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("reach", [None, 3])
def test_states_at_cells(reach):
    spans, words, _, _ = make(reach)
    words.requires_grad_()
    torch.manual_seed(1)
    sentences, rows, columns = torch.randint(0, 3, (40,)), *torch.randint(0, 7, (2, 40))
    found = spans.states_at(words, sentences, rows, columns)
    expected = mac_tagger_naive.span_states(words, spans)[sentences, rows, columns]
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    assert not found[rows > columns].any()
    cotangent = torch.randn_like(found)
    for one, other in zip(
        torch.autograd.grad(found, words, cotangent),
        torch.autograd.grad(expected, words, cotangent),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_states_at_no_cells():
    spans, words, _, _ = make(None)
    none = torch.zeros(0, dtype=torch.int64)
    assert spans.states_at(words, none, none, none).shape == (0, 4)


def test_what_lies_before_a_span_or_behind_it_changes_nothing():
    spans, words, lengths, read = make(None)
    other = words.clone()
    other[:, :2] += 1
    other[:, 5:] -= 1
    before, after = spans(words, lengths, read), spans(other, lengths, read)
    torch.testing.assert_close(before[:, 2:5, 0], after[:, 2:5, 0])
    torch.testing.assert_close(before[:, 2, :3], after[:, 2, :3])
    assert not torch.allclose(before[:, 2, 3], after[:, 2, 3])
