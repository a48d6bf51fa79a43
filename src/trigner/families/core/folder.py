"""What a model folder holds of a network for PyTorch.

    model.safetensors    all weights, the encoder's included
    encoder/config.json  the encoder's architecture
    tokenizer.json       the tokenizer, special words included

in addition to the description that every model folder has (`model_folder`). Loading is strict and
unpickles nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import nn
from transformers import PreTrainedModel

from trigner.encoders import (
    check_configuration,
    check_numbers,
    check_settings,
    check_shapes,
    encoder_from_config,
    rows_needed,
)
from trigner.errors import InputError
from trigner.models import (
    CONFIG,
    DESCRIPTION,
    TOKENIZER,
    WEIGHTS,
    Description,
    check_files,
    padding_of,
    read_description,
    read_tokenizer,
)
from trigner.systems import SavedState

Network = TypeVar("Network", bound=nn.Module)


def check_init_from(
    folder: Path, settings: Any, labels: Sequence[str], *, any_types: bool = False
) -> Description:
    """The description of a model that a training of these settings and types can start from.

    Raises InputError when it is exported, is of another system, has other settings, or lacks a
    type, unless it may be of `any_types`.
    """
    description = read_description(folder)
    _refuse_exported(folder, description)
    known = any_types or set(labels) <= set(description.labels)
    if description.system != settings.system or not known:
        cure = "" if known else "; --map-labels renames types"
        raise InputError(
            f"is a {description.system} model for {', '.join(description.labels)}; this training"
            f" is for {', '.join(labels)} with the system {settings.system}{cure}",
            path=folder,
        )
    if description.settings(type(settings.model), folder) != settings.model:
        raise InputError("was trained with different model settings", path=folder)
    return description


def _refuse_exported(folder: Path, description: Description) -> None:
    if description.is_exported:
        recipe = description.provenance.recipe
        made = f"; this one is made by `{recipe}`, which keeps it" if recipe else ""
        message = "is an exported model, which cannot be trained: name the one it was exported from"
        raise InputError(message + made, path=folder)


def load_network(
    folder: Path,
    description: Description,
    build: Callable[[PreTrainedModel], Network],
    special_words: Sequence[str] = (),
    kind: Callable[[Any], Any] | None = None,
) -> tuple[Network, Tokenizer, int]:
    """The network that `build` makes around an encoder, its tokenizer and the padding id.

    Its weights are those of the folder. `kind` gives the class of `transformers` for a
    configuration (None: an encoder's). Raises InputError naming the file that is missing, foreign,
    or has weights that are NaN or infinite.
    """
    _refuse_exported(folder, description)
    check_files(folder, description, (WEIGHTS, CONFIG, TOKENIZER))
    tokenizer = read_tokenizer(folder)
    padding_id = padding_of(folder, description, tokenizer)
    check_settings(description.model, folder / DESCRIPTION)
    check_configuration(folder / CONFIG)
    check_shapes(
        lambda: build(encoder_from_config((folder / CONFIG).parent, kind)), folder / WEIGHTS
    )
    try:
        encoder = encoder_from_config((folder / CONFIG).parent, kind)
    except Exception as error:  # what is not a configuration fails in nearly every way
        raise InputError(
            f"is not a valid encoder configuration: {error}", path=folder / CONFIG
        ) from error
    lacking = [word for word in special_words if tokenizer.token_to_id(word) is None]
    if lacking:
        raise InputError(f"belongs to another encoder: it lacks {lacking}", path=folder / TOKENIZER)
    held = cast(nn.Embedding, encoder.get_input_embeddings()).num_embeddings
    if rows_needed(tokenizer) > held:
        raise InputError(
            f"belongs to another encoder: it has {rows_needed(tokenizer)} subwords,"
            f" the model {held}",
            path=folder / TOKENIZER,
        )
    network = build(encoder)
    try:
        weights = load_file(folder / WEIGHTS)
        network.load_state_dict(weights, strict=True)
    except (OSError, SafetensorError, RuntimeError) as error:
        reason = str(error).strip().splitlines()
        raise InputError(
            f"does not match the model: {' '.join(reason[:3])}", path=folder / WEIGHTS
        ) from error
    check_numbers(weights, folder / WEIGHTS)
    network.eval()
    return network, tokenizer, padding_id


def saved_network(
    network: nn.Module,
    tokenizer: Tokenizer,
    padding_id: int,
    pretrained: str = "encoder.model",
    without: str | None = None,
) -> SavedState:
    """What a model folder holds of a network with this pretrained part.

    Weights whose names begin with `without` are left out.
    """
    encoder = cast(PreTrainedModel, network.get_submodule(pretrained))
    config = encoder.config.to_json_string().encode("utf-8")
    subwords = tokenizer.to_str().encode("utf-8")
    weights = {
        name: tensor.contiguous()
        for name, tensor in network.state_dict().items()
        if without is None or not name.startswith(without)
    }
    return SavedState(
        files={
            CONFIG: lambda path: path.write_bytes(config),
            TOKENIZER: lambda path: path.write_bytes(subwords),
            WEIGHTS: partial(_save_weights, weights),
        },
        state={"padding_id": padding_id},
    )


def _save_weights(weights: dict[str, torch.Tensor], path: Path) -> None:
    try:
        save_file(weights, path)
    except SafetensorError as error:  # how it reports a disk that cannot be written
        raise OSError(str(error)) from error
