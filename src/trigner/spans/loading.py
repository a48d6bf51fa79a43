"""From the folder of a span model to a predictor."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from trigner.batches import EncoderInputs, SubwordTokenizer
from trigner.errors import InputError, require_extra
from trigner.model_folder import DESCRIPTION, Description
from trigner.spans.fragments import FragmentFormat
from trigner.spans.predictor import SpanPredictor
from trigner.spans.settings import SpanSettings


def format_of(labels: tuple[str, ...], settings: SpanSettings) -> FragmentFormat:
    """The format that settings choose."""
    return FragmentFormat(labels, settings.max_width, settings.reading)


def load(
    folder: Path, description: Description, *, device: str = "auto", threads: int | None = None
) -> SpanPredictor:
    """A predictor. Raises InputError when the folder cannot be loaded or the device is not there.

    `threads` is not looked at: PyTorch's are set by `torch.set_num_threads`.
    """
    try:
        settings = SpanSettings.model_validate(description.model)
    except ValidationError as error:
        raise InputError(f"is damaged: {error}", path=folder / DESCRIPTION) from error
    format = format_of(description.labels, settings)
    require_extra("train", "torch", "transformers")
    from trigner.networks import Encoder, choose_device, load_network
    from trigner.spans.network import build_network
    from trigner.spans.torch_runtime import torch_scorer

    network, tokenizer, padding_id = load_network(
        folder,
        description,
        lambda model: build_network(
            Encoder(model, layers=settings.encoder_layers), len(format.labels), settings
        ),
    )
    inputs = EncoderInputs(
        SubwordTokenizer(tokenizer, ()), padding_id, network.encoder.max_subwords
    )
    return SpanPredictor(
        torch_scorer(network.to(choose_device(device))), format, inputs, description.temperature
    )
