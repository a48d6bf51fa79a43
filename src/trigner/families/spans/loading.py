"""From the folder of a span model to a predictor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tokenizers import Tokenizer

from trigner.batches import EncoderInputs
from trigner.errors import require_extra
from trigner.families.spans.predictor import SpanPredictor
from trigner.families.spans.settings import SpanSettings
from trigner.models import GRAPH, Description

if TYPE_CHECKING:
    from trigner.families.spans.network import SpanNetwork


def settings_of(folder: Path, description: Description) -> SpanSettings:
    """The settings of the model in a folder. Raises InputError when it has none."""
    settings = description.settings(SpanSettings, folder)
    if "fragment_roles" in description.model:
        return settings
    # It is from before there were any.
    return settings.model_copy(update={"fragment_roles": False})


def load_model(
    folder: Path, description: Description
) -> tuple[SpanNetwork, Tokenizer, EncoderInputs]:
    """The network in a folder and what feeds it.

    Raises InputError naming the file that is missing or foreign.
    """
    from trigner.encoders import Encoder
    from trigner.families.core import load_network, word_inputs
    from trigner.families.spans.network import build_network

    settings = settings_of(folder, description)
    network, tokenizer, padding_id = load_network(
        folder,
        description,
        lambda model: build_network(
            Encoder(model, layers=settings.encoder_layers),
            settings.format(description.labels).classes,
            settings,
        ),
    )
    return network, tokenizer, word_inputs(network.encoder, tokenizer, padding_id, settings)


def load(
    folder: Path, description: Description, *, device: str = "auto", threads: int | None = None
) -> SpanPredictor:
    """A predictor: of an exported model without PyTorch.

    `threads` are those of ONNX Runtime; PyTorch's are set by `torch.set_num_threads` alone. Raises
    InputError when the folder cannot be loaded or the device is not there.
    """
    settings = settings_of(folder, description)
    format = settings.format(description.labels)
    if description.is_exported:
        from trigner.families.spans.onnx_runtime import checked_scorer
        from trigner.families.tagging import exported_inputs, providers

        inputs = exported_inputs(folder, description, settings.context_words)
        scorer = checked_scorer(
            folder / GRAPH,
            providers(device),
            threads,
            classes=format.classes,
            settings=settings,
        )
    else:
        require_extra("train", "torch", "transformers")
        from trigner.encoders import choose_device
        from trigner.families.spans.torch_runtime import torch_scorer

        network, _, inputs = load_model(folder, description)
        scorer = torch_scorer(network.to(choose_device(device)))
    return SpanPredictor(scorer, format, inputs=inputs, temperature=description.temperature)
