"""Networks in memory: PyTorch scores."""

from __future__ import annotations

from trigner.batches import Batch
from trigner.families.core import batch_tensors, evaluating
from trigner.families.segments.network import SegmentNetwork
from trigner.families.segments.predictor import RawScores, Scorer


def torch_scorer(network: SegmentNetwork) -> Scorer:
    """Scores in evaluation mode, without gradients, in full precision."""

    def scorer(batch: Batch) -> RawScores:
        with evaluating(network) as device:
            output = network(**batch_tensors(batch, device))
        names = RawScores.__dataclass_fields__
        return RawScores(*(getattr(output, name).detach().float().cpu().numpy() for name in names))

    return scorer
