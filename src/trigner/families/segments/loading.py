"""From the folder of a segment model to a predictor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tokenizers import Tokenizer

from trigner.batches import EncoderInputs
from trigner.errors import require_extra
from trigner.families.segments.predictor import SegmentPredictor
from trigner.families.segments.settings import SegmentSettings
from trigner.models import GRAPH, Description

if TYPE_CHECKING:
    from trigner.families.segments.network import SegmentNetwork


def load_model(
    folder: Path, description: Description
) -> tuple[SegmentNetwork, Tokenizer, EncoderInputs]:
    """The network in a folder and what feeds it.

    Raises InputError naming the file that is missing or foreign.
    """
    from trigner.encoders import Encoder
    from trigner.families.core import load_network, word_inputs
    from trigner.families.segments.network import build_network

    settings = description.settings(SegmentSettings, folder)
    network, tokenizer, padding_id = load_network(
        folder,
        description,
        lambda model: build_network(
            Encoder(model, layers=settings.encoder_layers), len(description.labels), settings
        ),
    )
    return network, tokenizer, word_inputs(network.encoder, tokenizer, padding_id, settings)


def load(
    folder: Path, description: Description, *, device: str = "auto", threads: int | None = None
) -> SegmentPredictor:
    """A predictor: of an exported model without PyTorch.

    `threads` are those of ONNX Runtime; PyTorch's are set by `torch.set_num_threads` alone. Raises
    InputError when the folder cannot be loaded or the device is not there.
    """
    settings = description.settings(SegmentSettings, folder)
    if description.is_exported:
        from trigner.families.segments.onnx_runtime import checked_scorer
        from trigner.families.tagging import exported_inputs, providers

        inputs = exported_inputs(folder, description, settings.context_words)
        scorer = checked_scorer(
            folder / GRAPH,
            providers(device),
            threads,
            types=len(description.labels),
            settings=settings,
        )
    else:
        require_extra("train", "torch", "transformers")
        from trigner.encoders import choose_device
        from trigner.families.segments.torch_runtime import torch_scorer

        network, _, inputs = load_model(folder, description)
        scorer = torch_scorer(network.to(choose_device(device)))
    return SegmentPredictor(
        scorer,
        settings.format(description.labels),
        settings.structure(),
        inputs=inputs,
        temperature=description.temperature,
    )
