"""What only a GPU shows; skipped where there is none."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from trigner.networks.convolutions import DepthwiseConvolution, PointwiseConvolution

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
    pytest.mark.filterwarnings("default"),  # of PyTorch's, which differ between GPUs
]


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("kind", [(DepthwiseConvolution, 2), (PointwiseConvolution, 5)])
def test_convolutions_are_those_of_the_cpu_and_make_no_plans(kind, mixed):
    torch.manual_seed(1)
    layer = kind[0](8, kind[1])
    grid = torch.randn(2, 8, 9, 9, requires_grad=True)
    expected = layer(grid)
    on_expected = torch.autograd.grad(expected.sum(), [grid, layer.weight, layer.bias])
    layer = deepcopy(layer).cuda()
    on_gpu = grid.detach().cuda().requires_grad_()
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        with torch.autocast("cuda", torch.bfloat16, enabled=mixed):
            found = layer(on_gpu)
        on_found = torch.autograd.grad(found.sum(), [on_gpu, layer.weight, layer.bias])
    near = {"rtol": 0.03, "atol": 0.1} if mixed else {"rtol": 1e-3, "atol": 1e-3}
    for one, other in zip((found, *on_found), (expected, *on_expected), strict=True):
        torch.testing.assert_close(one.float().cpu(), other, **near)
    assert not [own.key for own in profiled.key_averages() if "convolution" in own.key]
