from __future__ import annotations

import pytest
import torch

from trigner.triplets.loss import TripletLoss
from trigner.triplets.metrics import METRICS


@pytest.mark.parametrize("width", [3, 47, 48, 512])
@pytest.mark.parametrize("name", METRICS)
def test_matrix_and_pairwise_agree(name, width):
    left, right = torch.randn(5, width), torch.randn(7, width)
    metric = METRICS[name]
    matrix = metric.matrix(left, right)
    assert matrix.shape == (5, 7)
    assert matrix.dtype == torch.float32
    for column, row in enumerate(right):
        torch.testing.assert_close(
            matrix[:, column], metric.pairwise(left, row.expand(5, -1)), rtol=1e-5, atol=1e-5
        )


@pytest.mark.parametrize("width", [3, 512])
def test_near_cells_far_from_the_origin_are_told_apart(width):
    anchor = torch.full((1, width), 100.0)
    offsets = torch.zeros(3, width)
    offsets[:, 0] = torch.tensor([0.25, 0.125, 0.5])
    distances = METRICS["euclidean"].matrix(anchor, anchor + offsets)
    torch.testing.assert_close(distances, torch.tensor([[0.25, 0.125, 0.5]]), rtol=1e-4, atol=0)


@pytest.mark.parametrize("width", [3, 512])
def test_equal_cells_have_no_distance(width):
    cells = 100 * torch.rand(50, width)
    distances = METRICS["euclidean"].matrix(cells, cells).diagonal()
    torch.testing.assert_close(distances, torch.zeros(50), rtol=0, atol=1e-4)


def test_many_cells_are_taken_in_parts():
    anchors, cells = torch.randn(2, 64), torch.randn(20_000, 64)
    expected = torch.cdist(anchors, cells, compute_mode="donot_use_mm_for_euclid_dist")
    torch.testing.assert_close(METRICS["euclidean"].matrix(anchors, cells), expected)


def test_euclidean_is_that_of_the_triplet_margin_loss():
    a, p, n = torch.randn(3, 6, 4)
    metric = METRICS["euclidean"]
    ours = torch.relu(1 + metric.pairwise(a, p) - metric.pairwise(a, n))
    theirs = torch.nn.functional.triplet_margin_loss(a, p, n, margin=1.0, reduction="none")
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("difference", [0.0, 1e-6])
def test_equal_vectors_give_finite_gradients(difference):
    left = torch.zeros(2, 3, requires_grad=True)
    # With a difference of -1e-6 the added 1e-6 leaves a norm of exactly 0.
    METRICS["euclidean"].pairwise(left, torch.full((2, 3), difference)).sum().backward()
    assert left.grad.isfinite().all()


def test_unknown_metric(refused):
    with refused():
        TripletLoss(metric="manhattan")
