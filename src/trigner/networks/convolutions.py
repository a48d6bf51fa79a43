"""Convolutions of the pair grid, without what PyTorch's own cost on grids of many sizes.

On a CPU, its gradients of a dilated depthwise convolution take twenty times as long as its values.
On CUDA, cuDNN makes a plan for each new shape, and hardly two batches of sentences have the same:
in a training step convolutions took ten times as long as all else (`research/decisions/gpu.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional


class PointwiseConvolution(nn.Conv2d):
    """A linear layer over the channels of each cell, `[B, C, L, L]` to `[B, out, L, L]`."""

    def __init__(self, channels: int, out_channels: int) -> None:
        super().__init__(channels, out_channels, 1)

    def forward(self, grid: Tensor) -> Tensor:
        """`[B, out, L, L]` from `[B, C, L, L]`."""
        if grid.device.type != "cuda" or torch.compiler.is_compiling():
            return super().forward(grid)
        return pointwise(grid, self.weight, self.bias)


class DepthwiseConvolution(nn.Conv2d):
    """Each channel with its own 3 x 3 kernel; as large as its input, `[B, C, L, L]`.

    On a CPU in training it has full precision under autocast too. Fastest channels last.
    """

    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__(
            channels, channels, 3, padding=dilation, dilation=dilation, groups=channels
        )

    def forward(self, grid: Tensor) -> Tensor:
        """`[B, C, L, L]` from the same shape."""
        device, dilation = grid.device.type, self.dilation[0]
        if torch.compiler.is_compiling():
            return super().forward(grid)
        if device == "cuda":
            return shifted(grid, self.weight, cast(Tensor, self.bias), dilation)
        if device == "cpu" and torch.is_grad_enabled():
            full = torch.promote_types(grid.dtype, torch.float32)
            return _depthwise(grid.to(full), self.weight, self.bias, dilation, _convolved)
        return super().forward(grid)


def pointwise(grid: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """A convolution by `weight [out, C, 1, 1]` as the product of matrices that it is."""
    cells = functional.linear(grid.permute(0, 2, 3, 1), weight.flatten(1), bias)
    return cells.permute(0, 3, 1, 2)


def shifted(grid: Tensor, weight: Tensor, bias: Tensor, dilation: int) -> Tensor:
    """A depthwise convolution by `weight [C, 1, 3, 3]` as a sum over nine shifted grids.

    Under autocast it reads and gives numbers of its precision; kernels and sums have at least
    single precision.
    """
    device = grid.device.type
    if torch.is_autocast_enabled(device):
        grid = grid.to(torch.get_autocast_dtype(device))
    return _depthwise(grid, weight, bias, dilation, _sum_of_shifted)


Convolve = Callable[[Tensor, Tensor, Tensor | None, int], Tensor]
"""A depthwise convolution's values from grid, kernels, bias and dilation."""


def _depthwise(
    grid: Tensor, weight: Tensor, bias: Tensor | None, dilation: int, convolve: Convolve
) -> Tensor:
    apply: Callable[..., Tensor] = _Depthwise.apply
    return apply(grid, weight, bias, dilation, convolve)


class _Depthwise(torch.autograd.Function):
    """Values by any of the two ways, in the precision of the inputs whatever autocast has."""

    @staticmethod
    def forward(
        ctx: Any, grid: Tensor, weight: Tensor, bias: Tensor, dilation: int, convolve: Convolve
    ) -> Tensor:
        ctx.save_for_backward(grid, weight)
        ctx.dilation, ctx.convolve = dilation, convolve
        with torch.autocast(grid.device.type, enabled=False):
            return convolve(grid, weight, bias, dilation)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        grid, weight = ctx.saved_tensors
        with torch.autocast(grid.device.type, enabled=False):
            # A cell reached its neighbours through the kernel; they reach it through the kernel
            # turned.
            on_grid = ctx.convolve(gradient, weight.flip(2, 3), None, ctx.dilation)
            on_weight = _on_kernel(grid, gradient, ctx.dilation).to(weight.dtype).view_as(weight)
            on_bias = gradient.sum((0, 2, 3), dtype=weight.dtype)
        return on_grid, on_weight, on_bias, None, None


def _convolved(grid: Tensor, weight: Tensor, bias: Tensor | None, dilation: int) -> Tensor:
    return functional.conv2d(
        grid, weight, bias, padding=dilation, dilation=dilation, groups=len(weight)
    )


def _sum_of_shifted(grid: Tensor, weight: Tensor, bias: Tensor | None, dilation: int) -> Tensor:
    total = torch.zeros_like(grid, dtype=_precise(grid))
    kernel = weight.flatten(1).t()[:, :, None, None].to(total.dtype)
    for own, moved in zip(kernel, _shifts(grid, dilation), strict=True):
        total.addcmul_(moved, own)
    return (total if bias is None else total + bias[:, None, None]).to(grid.dtype)


def _on_kernel(grid: Tensor, gradient: Tensor, dilation: int) -> Tensor:
    """The gradient of the kernels, `[C, 9]`."""
    precise = _precise(grid)
    own = [(each.to(precise) * gradient).sum((0, 2, 3)) for each in _shifts(grid, dilation)]
    return torch.stack(own, dim=1)


def _precise(grid: Tensor) -> torch.dtype:
    return torch.promote_types(grid.dtype, torch.float32)


def _shifts(grid: Tensor, dilation: int) -> Iterator[Tensor]:
    """What each cell of the kernel reads, row by row: the grid moved, zeros beyond its borders."""
    length, width = grid.shape[2:]
    around = functional.pad(grid, (dilation,) * 4)
    for i in range(0, 3 * dilation, dilation):
        for j in range(0, 3 * dilation, dilation):
            yield around[:, :, i : i + length, j : j + width]
