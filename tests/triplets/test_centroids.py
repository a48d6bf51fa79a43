from __future__ import annotations

import pytest
import torch

from trigner.triplets import batch as batch_module
from trigner.triplets import candidates
from trigner.triplets.batch import collate
from trigner.triplets.centroids import negative_centroids, positive_centroids
from trigner.triplets.settings import TripletSettings

CLEAN = TripletSettings()
SENTENCES = [
    candidates([(0, 1, 3), (2,)], 5, CLEAN),
    candidates([], 2, CLEAN),
    candidates([(0, 2)], 3, CLEAN),
]


@pytest.fixture(params=[1 << 22, 10], ids=["one block a sentence", "several"])
def batch(request, monkeypatch):
    monkeypatch.setattr(batch_module, "BLOCK", request.param)
    return collate(SENTENCES)


def test_means(batch):
    states = torch.randn(len(batch.rows), 4, dtype=torch.float64)
    negatives = [states[b.cells][row].mean(dim=0) for b, mask in batch.masks() for row in mask]
    torch.testing.assert_close(negative_centroids(states, batch), torch.stack(negatives))
    positives = [
        states[batch.pair_cells[batch.pair_anchors == a]].mean(dim=0)
        for a in range(len(batch.anchors))
    ]
    torch.testing.assert_close(
        positive_centroids(states[batch.pair_cells], batch), torch.stack(positives)
    )


def test_gradients(batch):
    states = torch.randn(len(batch.rows), 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: negative_centroids(s, batch), states)
    positives = torch.randn(len(batch.pair_cells), 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda p: positive_centroids(p, batch), positives)


@pytest.mark.parametrize("centroids", [positive_centroids, negative_centroids])
def test_without_candidates_the_graph_is_kept(centroids):
    vectors = torch.zeros(0, 3, requires_grad=True)
    means = centroids(vectors, collate([]))
    assert means.shape == (0, 3)
    means.sum().backward()
    assert vectors.grad.shape == (0, 3)
