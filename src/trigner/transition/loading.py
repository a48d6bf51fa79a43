"""From a model folder to a predictor."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from trigner.batches import EncoderInputs, SubwordTokenizer
from trigner.errors import InputError, require_extra
from trigner.model_folder import DESCRIPTION, Description
from trigner.transition.predictor import TransitionPredictor
from trigner.transition.settings import TransitionSettings


def load(
    folder: Path, description: Description, *, device: str = "auto", threads: int | None = None
) -> TransitionPredictor:
    """The predictor of a folder. Raises InputError when it is damaged or the device not there."""
    require_extra("train", "torch", "transformers")
    from trigner.networks import choose_device, load_network
    from trigner.transition.system import build_network

    try:
        settings = TransitionSettings.model_validate(description.model)
    except ValidationError as error:
        raise InputError(f"is damaged: {error}", path=folder / DESCRIPTION) from error
    labels = description.labels
    network, tokenizer, padding_id = load_network(
        folder, description, lambda encoder: build_network(encoder, settings, labels)
    )
    subwords = SubwordTokenizer(tokenizer, ())
    return TransitionPredictor(
        network.to(choose_device(device)),
        labels,
        settings.rules(labels),
        EncoderInputs(subwords, padding_id, network.encoder.max_subwords),
        settings.beam_size,
        description.temperature,
    )
