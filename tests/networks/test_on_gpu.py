"""What only a GPU shows; skipped where there is none."""

from __future__ import annotations

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from trigner.networks.convolutions import DepthwiseConvolution, PointwiseConvolution

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
    pytest.mark.filterwarnings("default"),  # of PyTorch's, which differ between GPUs
]


@pytest.mark.parametrize(
    "layer",
    [DepthwiseConvolution(8, 2), PointwiseConvolution(8, 5)],
    ids=["depthwise", "pointwise"],
)
def test_convolutions_are_those_of_the_cpu_and_make_no_plans(layer):
    grid = torch.randn(2, 8, 9, 9, requires_grad=True)
    expected = layer(grid)
    (on_expected,) = torch.autograd.grad(expected.square().sum(), [grid])
    layer = layer.cuda()
    on_gpu = grid.detach().cuda().requires_grad_()
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        found = layer(on_gpu)
        (on_found,) = torch.autograd.grad(found.square().sum(), [on_gpu])
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(on_found.cpu(), on_expected, rtol=1e-3, atol=1e-3)
    assert not [own.key for own in profiled.key_averages() if "convolution" in own.key]
