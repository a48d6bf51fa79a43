from __future__ import annotations

import importlib

import pytest
import torch

from trigner.networks import pair_products

module = importlib.import_module("trigner.networks.pair_products")  # the room has its function


def draw(channels: int, length: int, size: int = 5, batch: int = 3) -> list[torch.Tensor]:
    torch.manual_seed(2)
    shapes = (batch, channels, size), (batch, length, size), (batch, length, size)
    return [torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("channels", [3, 11], ids=["long sentences", "short sentences"])
@pytest.mark.parametrize("block", [1, 40, 10**6], ids=["by one", "in blocks", "at once"])
def test_equals_the_sum_over_features(monkeypatch, channels, block):
    monkeypatch.setattr(module, "BLOCK", block)
    inputs = draw(channels, 7)
    found = pair_products(*inputs, torch.tensor([7, 7, 7]))
    expected = torch.einsum("bcd,bid,bjd->bcij", *inputs)
    torch.testing.assert_close(found, expected)
    cotangent = torch.randn_like(expected)
    for one, other in zip(
        torch.autograd.grad(found, inputs, cotangent),
        torch.autograd.grad(expected, inputs, cotangent),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("channels", [3, 11], ids=["long sentences", "short sentences"])
def test_only_a_sentences_own_cells_are_computed(channels):
    inputs = draw(channels, 7)
    lengths = torch.tensor([7, 4, 0])
    inside = torch.arange(7) < lengths[:, None]
    valid = (inside[:, :, None] & inside[:, None])[:, None].double()
    found = pair_products(*inputs, lengths)
    expected = torch.einsum("bcd,bid,bjd->bcij", *inputs) * valid
    torch.testing.assert_close(found, expected)
    for one, other in zip(
        torch.autograd.grad(found.square().sum(), inputs),
        torch.autograd.grad(expected.square().sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("channels", [3, 11])
def test_precision_is_full_under_autocast(channels):
    inputs = [tensor.detach().float().requires_grad_() for tensor in draw(channels, 7)]
    expected = torch.einsum("bcd,bid,bjd->bcij", *inputs)
    gradients = torch.autograd.grad(expected.square().sum(), inputs)
    with torch.autocast("cpu", torch.bfloat16):
        found = pair_products(*inputs, torch.tensor([7, 7, 7]))
        torch.testing.assert_close(found, expected)
        found_gradients = torch.autograd.grad(found.square().sum(), inputs)
    torch.testing.assert_close(found_gradients, gradients)
    half = [tensor.bfloat16().detach().requires_grad_() for tensor in inputs]
    with torch.autocast("cpu", torch.bfloat16):
        pair_products(*half, torch.tensor([7, 7, 7])).sum().backward()
    assert {tensor.grad.dtype for tensor in half} == {torch.bfloat16}


@pytest.mark.parametrize("channels", [3, 11])
def test_compilers_see_the_plain_path(monkeypatch, channels):
    inputs = draw(channels, 7)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    monkeypatch.setattr(module, "_blocked", None)
    found = pair_products(*inputs, torch.tensor([7, 7, 7]))
    torch.testing.assert_close(found, torch.einsum("bcd,bid,bjd->bcij", *inputs))
