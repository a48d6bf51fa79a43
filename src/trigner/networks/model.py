"""A model in memory: a tagger with what gives its scores meaning, fresh or from a folder.

    model.safetensors    all weights, the encoder's included
    encoder/config.json  the encoder's architecture
    tokenizer.json       the tokenizer, special words included

beside the description that every model folder has (`model_folder`). Loading is strict and unpickles
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn

from trigner.batches import SubwordTokenizer
from trigner.errors import InputError
from trigner.model_folder import (
    CONFIG,
    DESCRIPTION,
    TOKENIZER,
    WEIGHTS,
    check_files,
    padding_of,
    read_description,
    read_tokenizer,
)
from trigner.networks.build import build_tagger
from trigner.networks.loading_checks import check_configuration, check_settings, check_shapes
from trigner.networks.pretrained import encoder_from_config, load_encoder, rows_needed
from trigner.networks.tagger import Tagger
from trigner.schemes import Scheme
from trigner.systems import NetworkSettings, tagger_spec


@dataclass(frozen=True)
class Model:
    """A tagger with the scheme that reads its scores and the tokenizer that feeds it.

    Its logits are divided by `temperature` where scores are read (`inference.calibration`).
    `system` is the name of its row.
    """

    tagger: Tagger
    scheme: Scheme
    tokenizer: Tokenizer
    padding_id: int
    network: NetworkSettings
    temperature: float = 1.0
    system: str = ""

    @property
    def subwords(self) -> SubwordTokenizer:
        return SubwordTokenizer(self.tokenizer, self.network.leading_words)

    @property
    def offset(self) -> int:
        """Special words before each sentence: rows and columns of the grid that are no words."""
        return len(self.network.leading_words)


def create(encoder: str, system: str, labels: tuple[str, ...], network: NetworkSettings) -> Model:
    """A fresh model around a pretrained encoder. Raises InputError when that cannot be had."""
    scheme = tagger_spec(system).scheme(labels)
    pretrained, tokenizer, padding_id = load_encoder(encoder, network.leading_words)
    tagger = build_tagger(pretrained, network, scheme, system)
    return Model(tagger, scheme, tokenizer, padding_id, network, system=system)


def load(folder: str | Path) -> Model:
    """The model in a folder. Raises InputError naming the file that is missing or foreign."""
    folder = Path(folder)
    description = read_description(folder)
    if description.is_exported:
        raise InputError("is an exported model, which cannot be trained", path=folder)
    check_files(folder, description, (WEIGHTS, CONFIG, TOKENIZER))
    try:
        network = NetworkSettings.model_validate(description.model)
        scheme = tagger_spec(description.system).scheme(description.labels)
    except (InputError, ValidationError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"is damaged: {error}", path=folder / DESCRIPTION) from error
    tokenizer = read_tokenizer(folder)
    padding_id = padding_of(folder, description, tokenizer)
    check_settings(description.model, folder / DESCRIPTION)
    check_configuration(folder / CONFIG)

    def build() -> Tagger:
        encoder = encoder_from_config((folder / CONFIG).parent)
        return build_tagger(encoder, network, scheme, description.system)

    check_shapes(build, folder / WEIGHTS)
    try:
        encoder = encoder_from_config((folder / CONFIG).parent)
    except Exception as error:  # what is no configuration fails in nearly every way
        raise InputError(
            f"is not a valid encoder configuration: {error}", path=folder / CONFIG
        ) from error
    lacking = [w for w in network.leading_words if tokenizer.token_to_id(w) is None]
    if lacking:
        raise InputError(f"belongs to another encoder: it lacks {lacking}", path=folder / TOKENIZER)
    held = cast(nn.Embedding, encoder.get_input_embeddings()).num_embeddings
    if rows_needed(tokenizer) > held:
        raise InputError(
            f"belongs to another encoder: it has {rows_needed(tokenizer)} subwords,"
            f" the model {held}",
            path=folder / TOKENIZER,
        )
    tagger = build_tagger(encoder, network, scheme, description.system)
    try:
        tagger.load_state_dict(load_file(folder / WEIGHTS), strict=True)
    except (OSError, SafetensorError, RuntimeError) as error:
        reason = str(error).strip().splitlines()
        raise InputError(
            f"does not match the model: {' '.join(reason[:3])}", path=folder / WEIGHTS
        ) from error
    tagger.eval()
    return Model(
        tagger,
        scheme,
        tokenizer,
        padding_id,
        network,
        description.temperature,
        description.system,
    )
