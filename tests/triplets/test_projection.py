from __future__ import annotations

import torch

from trigner.triplets.projection import SIZE, ProjectionHead


def test_vectors_of_length_1():
    head = ProjectionHead(6)
    states = torch.randn(5, 6)
    projected = head(states)
    assert projected.shape == (5, SIZE)
    torch.testing.assert_close(projected.norm(dim=1), torch.ones(5))
    hidden = torch.nn.functional.gelu(states @ head.hidden.weight.T + head.hidden.bias)
    plain = hidden @ head.output.weight.T + head.output.bias
    torch.testing.assert_close(projected, plain / plain.norm(dim=1, keepdim=True))


def test_no_cells():
    assert ProjectionHead(6)(torch.zeros(0, 6)).shape == (0, SIZE)
