"""Models in memory: PyTorch scores."""

from __future__ import annotations

from trigner.arrays import Logits
from trigner.batches import Batch
from trigner.hypergraph.network import HypergraphNetwork
from trigner.hypergraph.predictor import Scorer
from trigner.networks import batch_tensors, evaluating


def torch_scorer(network: HypergraphNetwork) -> Scorer:
    """Scores in evaluation mode, without gradients."""

    def scorer(batch: Batch) -> tuple[Logits, Logits]:
        with evaluating(network) as device:
            starts, edges = network(**batch_tensors(batch, device))
        return starts.cpu().numpy(), edges.cpu().numpy()

    return scorer
