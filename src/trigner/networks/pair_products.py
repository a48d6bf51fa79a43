"""The three-way product behind the conditional layer norm of all pairs, without its large middle.

`sum_d weight[c, d] row[i, d] column[j, d]` first multiplies two of the three, then sums with the
third. The first step's result is far larger than anything that goes in or comes out: memory, not
arithmetic, is what it costs. On a CPU it is made in blocks that stay in the cache, and made again
in the backward pass instead of being kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.amp import custom_bwd, custom_fwd

BLOCK = 128 * 1024
"""Numbers in a block for each thread: half a megabyte of float32."""

Extents = Sequence[tuple[int, int, int]]


def pair_products(weight: Tensor, rows: Tensor, columns: Tensor, lengths: Tensor) -> Tensor:
    """`[B, C, L, L]` from `weight [B or 1, C, D]` and both words, `rows`, `columns [B, L, D]`.

    Cells beyond a sentence's words, `lengths [B]`, are unspecified (finite where the input is).
    On a CPU the result has full precision under autocast too: that is the faster way there.
    """
    if weight.device.type != "cpu" or torch.compiler.is_compiling():
        weighted = (weight[:, :, None] * rows[:, None]).flatten(1, 2)
        pairs = weighted @ columns.transpose(1, 2)
        return pairs.unflatten(1, (weight.shape[1], rows.shape[1]))
    weight = weight.expand(len(rows), -1, -1)
    channels, length = weight.shape[1], rows.shape[1]
    # The two smaller ones are multiplied first.
    if length <= channels:
        extents = [(n, n, channels) for n in lengths.tolist()]
        return _blocked(rows, columns, weight, extents).permute(0, 3, 1, 2)
    return _blocked(weight, rows, columns, [(channels, n, n) for n in lengths.tolist()])


def _blocked(first: Tensor, second: Tensor, third: Tensor, extents: Extents) -> Tensor:
    apply: Callable[..., Tensor] = _Blocked.apply
    return apply(first, second, third, extents)


class _Blocked(torch.autograd.Function):
    """`out[b, m, n, k] = sum_d first[b, m, d] second[b, n, d] third[b, k, d]`; zero outside."""

    @staticmethod
    @custom_fwd(device_type="cpu", cast_inputs=torch.float32)  # type: ignore[untyped-decorator]
    def forward(ctx: Any, first: Tensor, second: Tensor, third: Tensor, extents: Extents) -> Tensor:
        ctx.save_for_backward(first, second, third)
        ctx.extents = extents
        shape = (len(first), first.shape[1], second.shape[1], third.shape[1])
        out = first.new_zeros(shape)
        for b, (m, n, k) in enumerate(extents):
            left, middle, right = first[b, :m], second[b, :n], third[b, :k].t()
            for block in _blocks(m, middle):
                products = (left[block, None] * middle).flatten(0, 1)
                out[b, block, :n, :k] = torch.mm(products, right).unflatten(0, (-1, n))
        return out

    @staticmethod
    @custom_bwd(device_type="cpu")  # type: ignore[untyped-decorator]
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        first, second, third = ctx.saved_tensors
        on_first, on_second, on_third = (torch.zeros_like(t) for t in ctx.saved_tensors)
        for b, (m, n, k) in enumerate(ctx.extents):
            left, middle, right = first[b, :m], second[b, :n], third[b, :k]
            for block in _blocks(m, middle):
                own = grad[b, block, :n, :k].reshape(-1, k)
                products = (left[block, None] * middle).flatten(0, 1)
                on_third[b, :k].addmm_(own.t(), products)
                on_products = torch.mm(own, right).unflatten(0, (-1, n))
                on_first[b, block] = (on_products * middle).sum(1)
                on_second[b, :n] += (on_products * left[block, None]).sum(0)
        return on_first, on_second, on_third, None


def _blocks(count: int, others: Tensor) -> Iterator[slice]:
    """Slices of `count` things such that a slice times `others` fits in a block."""
    if others.numel() == 0:
        return
    step = max(1, BLOCK * torch.get_num_threads() // others.numel())
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))
