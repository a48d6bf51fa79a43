"""From a model folder to a predictor."""

from __future__ import annotations

from pathlib import Path

from trigner.errors import require_extra
from trigner.families.transition.predictor import TransitionPredictor
from trigner.families.transition.settings import TransitionSettings
from trigner.models import Description


def load(
    folder: Path, description: Description, *, device: str = "auto", threads: int | None = None
) -> TransitionPredictor:
    """The predictor of a folder. Raises InputError when it is damaged or the device not there."""
    require_extra("train", "torch", "transformers")
    from trigner.encoders import choose_device
    from trigner.families.core import load_network, word_inputs
    from trigner.families.transition.system import build_network

    settings = description.settings(TransitionSettings, folder)
    labels = description.labels
    network, tokenizer, padding_id = load_network(
        folder, description, lambda encoder: build_network(encoder, settings, labels)
    )
    return TransitionPredictor(
        network.to(choose_device(device)),
        labels,
        settings.rules(labels),
        settings.beam_size,
        inputs=word_inputs(network.encoder, tokenizer, padding_id, settings),
        temperature=description.temperature,
    )
