"""Networks in memory: PyTorch scores."""

from __future__ import annotations

from trigner.batches import Batch
from trigner.families.core import batch_tensors, evaluating
from trigner.families.spans.network import SpanNetwork
from trigner.families.spans.predictor import RawScores, Scorer


def torch_scorer(network: SpanNetwork) -> Scorer:
    """Scores in evaluation mode, without gradients, in full precision."""

    def scorer(batch: Batch) -> RawScores:
        with evaluating(network) as device:
            output = network(**batch_tensors(batch, device))
        arrays = (output.fragments.float(), output.kept, output.relations.float())
        return RawScores(*(array.cpu().numpy() for array in arrays))

    return scorer
