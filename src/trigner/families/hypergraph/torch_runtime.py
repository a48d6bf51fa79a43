"""Models in memory: PyTorch scores."""

from __future__ import annotations

from trigner.arrays import Logits
from trigner.batches import Batch
from trigner.families.core import batch_tensors, evaluating
from trigner.families.hypergraph.network import HypergraphNetwork
from trigner.families.hypergraph.predictor import Scorer


def torch_scorer(network: HypergraphNetwork) -> Scorer:
    """Scores in evaluation mode, without gradients."""

    def scorer(batch: Batch) -> tuple[Logits, Logits]:
        with evaluating(network) as device:
            starts, edges = network(**batch_tensors(batch, device))
        return starts.cpu().numpy(), edges.cpu().numpy()

    return scorer
