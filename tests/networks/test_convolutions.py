from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from trigner.networks import convolutions
from trigner.networks.convolutions import (
    DepthwiseConvolution,
    PointwiseConvolution,
    pointwise,
    shifted,
)


def drawn(dilation, dtype=torch.double):
    torch.manual_seed(1)
    layer = DepthwiseConvolution(4, dilation).to(dtype)
    return layer, torch.randn(2, 4, 7, 6, dtype=dtype, requires_grad=True)


def plain(layer, grid):
    d = layer.dilation[0]
    return functional.conv2d(grid, layer.weight, layer.bias, padding=d, dilation=d, groups=4)


def as_on_cuda(layer, grid):
    return shifted(grid, layer.weight, layer.bias, layer.dilation[0])


@pytest.mark.parametrize("convolved", [DepthwiseConvolution.__call__, as_on_cuda])
@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("dilation", [1, 2, 3, 9])
def test_values_and_gradients_are_those_of_the_convolution(dilation, channels_last, convolved):
    layer, grid = drawn(dilation)
    if channels_last:
        grid = grid.detach().contiguous(memory_format=torch.channels_last).requires_grad_()
    assert_same(layer, grid, convolved(layer, grid), plain(layer, grid))


def test_a_pointwise_convolution_is_the_convolution():
    torch.manual_seed(1)
    layer = PointwiseConvolution(4, 3).double()
    grid = torch.randn(2, 4, 7, 6, dtype=torch.double, requires_grad=True)
    expected = functional.conv2d(grid, layer.weight, layer.bias)
    assert_same(layer, grid, layer(grid), expected)
    assert_same(layer, grid, pointwise(grid, layer.weight, layer.bias), expected)


def assert_same(layer, grid, found, expected):
    """Values, and gradients of everything that they are made of."""
    torch.testing.assert_close(found, expected)
    inputs = [grid, layer.weight, layer.bias]
    cotangent = torch.randn_like(expected)
    for one, other in zip(
        torch.autograd.grad(found, inputs, cotangent, retain_graph=True),
        torch.autograd.grad(expected, inputs, cotangent, retain_graph=True),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_without_gradients_it_is_the_convolution():
    layer, grid = drawn(2)
    with torch.inference_mode():
        torch.testing.assert_close(layer(grid), plain(layer, grid))


def test_precision_is_full_in_training_under_autocast():
    layer, grid = drawn(2, torch.float32)
    expected = plain(layer, grid)
    gradients = torch.autograd.grad(expected.square().sum(), [grid, layer.weight, layer.bias])
    with torch.autocast("cpu", torch.bfloat16):
        found = layer(grid)
    torch.testing.assert_close(found, expected)
    found_gradients = torch.autograd.grad(found.square().sum(), [grid, layer.weight, layer.bias])
    torch.testing.assert_close(found_gradients, gradients)


def test_shifted_grids_have_the_precision_of_autocast_and_sums_more():
    layer, grid = drawn(2, torch.float32)
    rounded = grid.detach().to(torch.bfloat16).float().requires_grad_()
    cotangent = torch.randn(2, 4, 7, 6).to(torch.bfloat16)
    expected = plain(layer, rounded)
    kernels = [layer.weight, layer.bias]
    on_expected = torch.autograd.grad(expected, [rounded, *kernels], cotangent.float())
    with torch.autocast("cpu", torch.bfloat16):
        found = as_on_cuda(layer, grid)
    on_found = torch.autograd.grad(found, [grid, *kernels], cotangent)
    # Rounded once at the end, not after each of the nine.
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found, expected.to(torch.bfloat16), rtol=2**-8, atol=1e-6)
    torch.testing.assert_close(on_found[0], on_expected[0], rtol=2**-8, atol=1e-6)
    # Of kernels nothing is rounded.
    torch.testing.assert_close(on_found[1:], on_expected[1:], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("layer", [DepthwiseConvolution(4, 2), PointwiseConvolution(4, 3)])
def test_cuda_takes_the_other_form(layer, monkeypatch):
    class OnCuda(torch.Tensor):
        device = torch.device("cuda")

    name = "shifted" if isinstance(layer, DepthwiseConvolution) else "pointwise"
    monkeypatch.setattr(convolutions, name, lambda *given: given)
    grid = torch.zeros(1, 4, 5, 5).as_subclass(OnCuda)
    assert layer(grid)[:3] == (grid, layer.weight, layer.bias)
