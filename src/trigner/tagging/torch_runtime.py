"""Models in memory: PyTorch scores."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray

from trigner.batches import Batch
from trigner.networks import Model, Tagger
from trigner.tagging.predictor import Scorer, TagPredictor


def torch_predictor(model: Model, device: torch.device) -> TagPredictor:
    """A predictor with the model's own weights, moved to the device."""
    return TagPredictor(
        scorer=torch_scorer(model.tagger.to(device)),
        scheme=model.scheme,
        subwords=model.subwords,
        padding_id=model.padding_id,
        max_subwords=model.tagger.encoder.max_subwords,
        temperature=model.temperature,
    )


def torch_scorer(tagger: Tagger) -> Scorer:
    """Scores in evaluation mode, without gradients, in full precision."""

    @torch.inference_mode()
    def scorer(batch: Batch) -> NDArray[Any]:
        device = next(tagger.parameters()).device
        was_training = tagger.training
        tagger.eval()
        arrays = (batch.input_ids, batch.attention_mask, batch.word_subwords, batch.lengths)
        scores = tagger(*(torch.from_numpy(array).to(device) for array in arrays))
        tagger.train(was_training)
        logits: NDArray[Any] = scores.logits.float().cpu().numpy()
        return logits

    return scorer
