"""From a model folder to a predictor."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from trigner.batches import EncoderInputs, SubwordTokenizer
from trigner.errors import InputError, require_extra
from trigner.hypergraph.predictor import HypergraphPredictor
from trigner.hypergraph.settings import HypergraphSettings
from trigner.model_folder import DESCRIPTION, Description


def load(
    folder: Path, description: Description, *, device: str = "auto", threads: int | None = None
) -> HypergraphPredictor:
    """The predictor of a folder. Raises InputError when it is damaged or the device not there."""
    require_extra("train", "torch", "transformers")
    from trigner.hypergraph.system import build_network
    from trigner.hypergraph.torch_runtime import torch_scorer
    from trigner.networks import choose_device, load_network

    try:
        settings = HypergraphSettings.model_validate(description.model)
    except ValidationError as error:
        raise InputError(f"is damaged: {error}", path=folder / DESCRIPTION) from error
    labels = description.labels
    network, tokenizer, padding_id = load_network(
        folder, description, lambda encoder: build_network(encoder, settings, labels)
    )
    return HypergraphPredictor(
        torch_scorer(network.to(choose_device(device))),
        labels,
        settings,
        EncoderInputs(SubwordTokenizer(tokenizer, ()), padding_id, network.encoder.max_subwords),
        description.temperature,
    )
