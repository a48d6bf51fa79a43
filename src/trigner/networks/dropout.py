"""Dropout whose random numbers are cheap on a CPU.

PyTorch draws them there one by one in a single thread, which for the pair grid takes longer than
the layers between. Here four numbers of 16 bits come from one draw of 64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

_LEVELS = 1 << 16


class Dropout(nn.Module):
    """`torch.nn.Dropout`; on a CPU the rate `p` is rounded to a multiple of 1 / 65536."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, values: Tensor) -> Tensor:
        """Values of any shape; in training each is zeroed with probability `p`, else scaled."""
        return dropout(values, self.p, self.training)

    def extra_repr(self) -> str:
        return f"p={self.p}"


def dropout(values: Tensor, rate: float, training: bool) -> Tensor:
    """As `torch.nn.functional.dropout`; the masks follow PyTorch's seed."""
    if not training or rate == 0:
        return values
    if values.device.type != "cpu" or torch.compiler.is_compiling():
        return functional.dropout(values, rate)
    dropped = round(rate * _LEVELS)
    draws = torch.empty((values.numel() + 3) // 4, dtype=torch.int64, device=values.device)
    draws.random_(-(1 << 63), None)
    levels = draws.view(torch.int16)[: values.numel()].view(values.shape)
    apply: Callable[..., Tensor] = _Masked.apply
    return apply(values, levels >= dropped - _LEVELS // 2, _LEVELS / (_LEVELS - dropped))


class _Masked(torch.autograd.Function):
    """Values times mask times factor. Keeps a boolean mask, where PyTorch's keeps numbers."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, mask: Tensor, factor: float) -> Tensor:
        ctx.save_for_backward(mask)
        ctx.factor = factor
        return (values * mask).mul_(factor)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (mask,) = ctx.saved_tensors
        return (gradient * mask).mul_(ctx.factor), None, None
