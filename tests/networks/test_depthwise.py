from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from trigner.networks.depthwise import DepthwiseConvolution


def drawn(dilation, dtype=torch.double):
    torch.manual_seed(1)
    layer = DepthwiseConvolution(4, dilation).to(dtype)
    return layer, torch.randn(2, 4, 7, 6, dtype=dtype, requires_grad=True)


def plain(layer, grid):
    d = layer.dilation[0]
    return functional.conv2d(grid, layer.weight, layer.bias, padding=d, dilation=d, groups=4)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("dilation", [1, 2, 3, 9])
def test_values_and_gradients_are_those_of_the_convolution(dilation, channels_last):
    layer, grid = drawn(dilation)
    if channels_last:
        grid = grid.detach().contiguous(memory_format=torch.channels_last).requires_grad_()
    found, expected = layer(grid), plain(layer, grid)
    torch.testing.assert_close(found, expected)
    inputs = [grid, layer.weight, layer.bias]
    cotangent = torch.randn_like(expected)
    for one, other in zip(
        torch.autograd.grad(found, inputs, cotangent),
        torch.autograd.grad(expected, inputs, cotangent),
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
