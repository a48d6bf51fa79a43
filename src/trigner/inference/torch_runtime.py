"""Models in memory: PyTorch scores."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray

from trigner.batches import Batch
from trigner.errors import InputError
from trigner.inference.extraction import Extractor, Scorer
from trigner.networks import Model, Tagger


def extractor(
    model: Model, *, device: str = "auto", batch_size: int = 32, threshold: float = 0.0
) -> Extractor:
    """An extractor around a model in memory."""
    place = choose_device(device)
    return Extractor(
        scorer=torch_scorer(model.tagger.to(place)),
        scheme=model.scheme,
        subwords=model.subwords,
        padding_id=model.padding_id,
        max_subwords=model.tagger.encoder.max_subwords,
        batch_size=batch_size,
        temperature=model.temperature,
        threshold=threshold,
    )


def torch_scorer(tagger: Tagger) -> Scorer:
    """Scores in evaluation mode, without gradients, in full precision."""

    @torch.inference_mode()
    def scorer(batch: Batch) -> NDArray[Any]:
        place = next(tagger.parameters()).device
        was_training = tagger.training
        tagger.eval()
        arrays = (batch.input_ids, batch.attention_mask, batch.word_subwords, batch.lengths)
        scores = tagger(*(torch.from_numpy(array).to(place) for array in arrays))
        tagger.train(was_training)
        logits: NDArray[Any] = scores.logits.float().cpu().numpy()
        return logits

    return scorer


def choose_device(name: str) -> torch.device:
    """`auto` takes CUDA, then Apple's GPU, then the CPU.

    Raises InputError for what is no device and for one that is not there.
    """
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:  # which lists all that torch was ever built for
        raise InputError(
            f"no device {name!r}: give auto, cpu, cuda, cuda:1 (the second GPU) or mps"
        ) from error
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"no device {name!r}: {reason}") from error
    return device
