"""The plain W2NER in bfloat16: gradients of its convolutions are those of full precision."""

from __future__ import annotations

from types import SimpleNamespace

import torch
from plain_w2ner import STATES, PlainW2ner
from torch import Tensor, nn


def convolution_gradients(length: int, bfloat16: bool) -> list[Tensor]:
    torch.manual_seed(1)
    encoder = nn.Module()
    encoder.config = SimpleNamespace(hidden_size=8)
    network = PlainW2ner(encoder, 3).eval()
    states = torch.randn(2, length, STATES)
    with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        grid = network._grid(states, torch.ones(2, 1, length, length, dtype=torch.bool))
    grid.float().square().sum().backward()
    return [own.weight.grad for own in network.convolutions]


def test_convolutions_have_the_gradients_of_full_precision():
    for length in (31, 47):  # widths at which PyTorch's own in bfloat16 are wrong
        exact, own = (convolution_gradients(length, half) for half in (False, True))
        for left, right in zip(exact, own, strict=True):
            assert (left - right).norm() < 0.05 * left.norm()
