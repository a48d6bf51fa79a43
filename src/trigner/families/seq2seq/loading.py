"""From a model folder to a predictor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trigner.errors import require_extra
from trigner.families.seq2seq.format import Format
from trigner.families.seq2seq.settings import Seq2SeqSettings
from trigner.models import Description

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from trigner.families.seq2seq.network import Seq2SeqNetwork
    from trigner.families.seq2seq.predictor import Seq2SeqPredictor


def load(
    folder: Path, description: Description, *, device: str = "auto", threads: int | None = None
) -> Seq2SeqPredictor:
    """A predictor; `torch.set_num_threads` sets the threads of PyTorch, for all models at once.

    Raises InputError when the folder cannot be loaded or the device is not there.
    """
    require_extra("train", "torch", "transformers")
    from trigner.encoders import choose_device
    from trigner.families.seq2seq.building import inputs_of
    from trigner.families.seq2seq.predictor import Seq2SeqPredictor

    network, tokenizer, padding_id, settings = load_parts(folder, description)
    return Seq2SeqPredictor(
        network=network.to(choose_device(device)),
        format=Format.of(description.labels, settings),
        inputs=inputs_of(network, tokenizer, padding_id, settings),
        beam_size=settings.beam_size,
        length_penalty=settings.length_penalty,
        temperature=description.temperature,
    )


def load_parts(
    folder: Path, description: Description
) -> tuple[Seq2SeqNetwork, Tokenizer, int, Seq2SeqSettings]:
    """The network of a folder, its tokenizer, the padding id and the settings.

    Raises InputError naming the file that is missing or foreign.
    """
    from trigner.families.core import load_network
    from trigner.families.seq2seq.building import build_network

    settings = description.settings(Seq2SeqSettings, folder)
    network, tokenizer, padding_id = load_network(
        folder,
        description,
        lambda encoder: build_network(encoder, len(description.labels), settings),
    )
    return network, tokenizer, padding_id, settings
