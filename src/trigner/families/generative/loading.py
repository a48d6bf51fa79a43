"""From a model folder to a predictor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trigner.errors import require_extra
from trigner.families.generative.settings import GenerativeSettings
from trigner.models import WEIGHTS, Description

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedModel

    from trigner.families.generative.network import GenerativeNetwork
    from trigner.families.generative.predictor import GenerativePredictor


def load(
    folder: Path, description: Description, *, device: str = "auto", threads: int | None = None
) -> GenerativePredictor:
    """A predictor; `torch.set_num_threads` sets the threads of PyTorch, for all models at once.

    Raises InputError when the folder cannot be loaded or the device is not there.
    """
    require_extra("train", "torch", "transformers")
    from trigner.encoders import choose_device
    from trigner.families.generative.building import inputs_of, texts_of
    from trigner.families.generative.predictor import GenerativePredictor

    network, tokenizer, end, settings = load_parts(folder, description)
    texts = texts_of(network, tokenizer, description.labels, end, settings)
    return GenerativePredictor(
        network=network.to(choose_device(device)),
        texts=texts,
        inputs=inputs_of(texts),
        temperature=description.temperature,
    )


def load_parts(
    folder: Path, description: Description
) -> tuple[GenerativeNetwork, Tokenizer, int, GenerativeSettings]:
    """The network of a folder, its tokenizer, the subword that ends texts, and the settings.

    Raises InputError naming the file that is missing or foreign.
    """
    from trigner.encoders import separate, weight_names
    from trigner.families.core import load_network
    from trigner.families.generative.building import kind_of
    from trigner.families.generative.network import GenerativeNetwork

    settings = description.settings(GenerativeSettings, folder)

    def build(model: PreTrainedModel) -> GenerativeNetwork:
        network = GenerativeNetwork(model, settings)
        separate(network, weight_names(folder / WEIGHTS))
        return network

    network, tokenizer, end = load_network(folder, description, build, kind=kind_of)
    return network, tokenizer, end, settings
