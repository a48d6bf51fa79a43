"""Models in memory: PyTorch scores."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray

from trigner.batches import Batch
from trigner.families.core import batch_tensors, evaluating
from trigner.families.tagging.model import Model
from trigner.families.tagging.predictor import Scorer, TagPredictor
from trigner.families.tagging.tagger import Tagger


def torch_predictor(model: Model, device: torch.device) -> TagPredictor:
    """A predictor with the model's own weights, moved to the device."""
    return TagPredictor(
        scorer=torch_scorer(model.tagger.to(device)),
        scheme=model.scheme,
        inputs=model.inputs,
        temperature=model.temperature,
    )


def torch_scorer(tagger: Tagger) -> Scorer:
    """Scores in evaluation mode, without gradients, in full precision."""

    def scorer(batch: Batch) -> NDArray[Any]:
        with evaluating(tagger) as device:
            scores = tagger(**batch_tensors(batch, device))
        logits: NDArray[Any] = scores.logits.float().cpu().numpy()
        return logits

    return scorer
