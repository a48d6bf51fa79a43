"""Depthwise dilated convolutions with gradients that are as fast as the convolution itself.

On a CPU, PyTorch's own gradients of a dilated depthwise convolution take twenty times as long as
its values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.amp import custom_bwd, custom_fwd
from torch.nn import functional


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
        plain = grid.device.type != "cpu" or torch.compiler.is_compiling()
        if plain or not torch.is_grad_enabled():
            return super().forward(grid)
        apply: Callable[..., Tensor] = _Depthwise.apply
        return apply(grid, self.weight, self.bias, self.dilation[0])


class _Depthwise(torch.autograd.Function):
    @staticmethod
    @custom_fwd(device_type="cpu", cast_inputs=torch.float32)  # type: ignore[untyped-decorator]
    def forward(ctx: Any, grid: Tensor, weight: Tensor, bias: Tensor, dilation: int) -> Tensor:
        ctx.save_for_backward(grid, weight)
        ctx.dilation = dilation
        return _convolved(grid, weight, bias, dilation)

    @staticmethod
    @custom_bwd(device_type="cpu")  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        grid, weight = ctx.saved_tensors
        d, (length, width) = int(ctx.dilation), grid.shape[2:]
        # A cell reached its neighbours through the kernel; they reach it through the kernel turned.
        on_grid = _convolved(gradient, weight.flip(2, 3), None, d)
        around = functional.pad(grid, (d, d, d, d))
        on_weight = torch.empty_like(weight)
        for i in range(3):
            for j in range(3):
                shifted = around[:, :, i * d : i * d + length, j * d : j * d + width]
                on_weight[:, 0, i, j] = (shifted * gradient).sum((0, 2, 3))
        return on_grid, on_weight, gradient.sum((0, 2, 3)), None


def _convolved(grid: Tensor, weight: Tensor, bias: Tensor | None, dilation: int) -> Tensor:
    return functional.conv2d(
        grid, weight, bias, padding=dilation, dilation=dilation, groups=len(weight)
    )
