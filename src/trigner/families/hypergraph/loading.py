"""From a model folder to a predictor, by the runtime it is made for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tokenizers import Tokenizer

from trigner.batches import EncoderInputs
from trigner.errors import require_extra
from trigner.families.hypergraph.predictor import HypergraphPredictor
from trigner.families.hypergraph.settings import HypergraphSettings
from trigner.models import GRAPH, Description

if TYPE_CHECKING:
    from trigner.families.hypergraph.network import HypergraphNetwork


def load_model(
    folder: Path, description: Description, settings: HypergraphSettings
) -> tuple[HypergraphNetwork, Tokenizer, EncoderInputs]:
    """The network in a folder and what feeds it.

    Raises InputError naming the file that is missing or foreign.
    """
    from trigner.families.core import load_network, word_inputs
    from trigner.families.hypergraph.system import build_network

    labels = description.labels
    network, tokenizer, padding_id = load_network(
        folder, description, lambda encoder: build_network(encoder, settings, labels)
    )
    inputs = word_inputs(network.encoder, tokenizer, padding_id, settings)
    return network, tokenizer, inputs


def load(
    folder: Path, description: Description, *, device: str = "auto", threads: int | None = None
) -> HypergraphPredictor:
    """A predictor: of an exported model without PyTorch.

    `threads` are those of ONNX Runtime; PyTorch's are set by `torch.set_num_threads` alone. Raises
    InputError when the folder is damaged or the device is not there.
    """
    settings = description.settings(HypergraphSettings, folder)
    if description.is_exported:
        from trigner.families.hypergraph.onnx_runtime import checked_scorer
        from trigner.families.tagging import exported_inputs, providers

        inputs = exported_inputs(folder, description, settings.context_words)
        scorer = checked_scorer(
            folder / GRAPH,
            providers(device),
            threads,
            types=len(description.labels),
            structure=settings.structure(),
        )
    else:
        require_extra("train", "torch", "transformers")
        from trigner.encoders import choose_device
        from trigner.families.hypergraph.torch_runtime import torch_scorer

        network, _, inputs = load_model(folder, description, settings)
        scorer = torch_scorer(network.to(choose_device(device)))
    return HypergraphPredictor(
        scorer,
        description.labels,
        settings,
        inputs=inputs,
        temperature=description.temperature,
    )
