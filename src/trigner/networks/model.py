"""A model folder: weights and everything that gives them meaning.

    model.safetensors    all weights, the encoder's included
    encoder/config.json  the encoder's architecture

beside what every model folder has (`model_folder`). Loading is strict and unpickles nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import nn

from trigner.atomic_files import replace_together
from trigner.batches import SubwordTokenizer
from trigner.errors import InputError, TrignerError
from trigner.model_folder import (
    CONFIG,
    DESCRIPTION,
    TOKENIZER,
    WEIGHTS,
    check_hashes,
    description_as_json,
    hash_of,
    is_exported,
    need,
    read_description,
    read_tokenizer,
    scheme_of,
)
from trigner.networks.build import build_tagger
from trigner.networks.pretrained import encoder_from_config, load_encoder, rows_needed
from trigner.networks.settings import NetworkSettings
from trigner.networks.tagger import Tagger
from trigner.schemes import Scheme, scheme


@dataclass(frozen=True)
class Model:
    """A tagger with the scheme that reads its scores and the tokenizer that feeds it.

    Its logits are divided by `temperature` where scores are read (`inference.calibration`).
    `provenance` is free: settings of the training, scores, versions; it travels in the folder.
    """

    tagger: Tagger
    scheme: Scheme
    tokenizer: Tokenizer
    padding_id: int
    network: NetworkSettings
    provenance: Mapping[str, Any] = field(default_factory=dict)
    temperature: float = 1.0

    @property
    def subwords(self) -> SubwordTokenizer:
        return SubwordTokenizer(self.tokenizer, self.network.leading_words)

    @property
    def offset(self) -> int:
        """Special words before each sentence: rows and columns of the grid that are no words."""
        return len(self.network.leading_words)


def create(
    encoder: str, scheme_name: str, labels: tuple[str, ...], network: NetworkSettings
) -> Model:
    """A fresh model around a pretrained encoder. Raises InputError when that cannot be had."""
    tags = scheme(scheme_name, labels)
    pretrained, tokenizer, padding_id = load_encoder(encoder, network.leading_words)
    tagger = build_tagger(pretrained, network, tags)
    return Model(tagger, tags, tokenizer, padding_id, network)


def save(model: Model, folder: Path) -> None:
    """Write the model folder: all of it or nothing.

    Every file is first written beside its final name, so that a full disk is met while the old
    files are still in place. Raises TrignerError when it cannot be written.
    """
    config = model.tagger.encoder.model.config.to_json_string().encode("utf-8")
    tokenizer = model.tokenizer.to_str().encode("utf-8")
    description = {
        "scheme": model.scheme.name,
        "labels": list(model.scheme.labels),
        "padding_id": model.padding_id,
        "temperature": model.temperature,
        "network": model.network.model_dump(mode="json"),
        "files": {CONFIG: hash_of(config), TOKENIZER: hash_of(tokenizer)},
        "provenance": dict(model.provenance),
    }
    state = {name: tensor.contiguous() for name, tensor in model.tagger.state_dict().items()}
    writers: dict[Path, Callable[[Path], object]] = {
        folder / CONFIG: lambda path: path.write_bytes(config),
        folder / TOKENIZER: lambda path: path.write_bytes(tokenizer),
        folder / WEIGHTS: lambda path: save_file(state, path),
        folder / DESCRIPTION: lambda path: path.write_text(
            description_as_json(description), encoding="utf-8"
        ),
    }
    try:
        (folder / CONFIG).parent.mkdir(parents=True, exist_ok=True)
        replace_together(writers)
    except (OSError, SafetensorError) as error:
        raise TrignerError(f"cannot save the model in {folder}: {error}") from error


def load(folder: str | Path) -> Model:
    """The model in a folder. Raises InputError naming the file that is missing or foreign."""
    folder = Path(folder)
    description = read_description(folder)
    if is_exported(description):
        raise InputError("is an exported model: it runs, but cannot be trained", path=folder)
    need(folder, (WEIGHTS, CONFIG, TOKENIZER))
    try:
        network = NetworkSettings.model_validate(description["network"])
        tags = scheme_of(description)
        padding_id = int(description["padding_id"])
        temperature = float(description["temperature"])
        hashes = {name: str(description["files"][name]) for name in (CONFIG, TOKENIZER)}
        provenance = dict(description["provenance"])
    except (InputError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"is damaged: {error}", path=folder / DESCRIPTION) from error
    tokenizer = read_tokenizer(folder)
    try:
        encoder = encoder_from_config((folder / CONFIG).parent)
    except Exception as error:  # what is no configuration fails in nearly every way
        raise InputError(f"is no encoder configuration: {error}", path=folder / CONFIG) from error
    lacking = [w for w in network.leading_words if tokenizer.token_to_id(w) is None]
    if lacking:
        raise InputError(f"is another encoder's: it lacks {lacking}", path=folder / TOKENIZER)
    held = cast(nn.Embedding, encoder.get_input_embeddings()).num_embeddings
    if rows_needed(tokenizer) > held:
        raise InputError(
            f"is another encoder's: it knows {rows_needed(tokenizer)} subwords, the model {held}",
            path=folder / TOKENIZER,
        )
    check_hashes(folder, hashes)
    tagger = build_tagger(encoder, network, tags)
    try:
        tagger.load_state_dict(load_file(folder / WEIGHTS), strict=True)
    except (OSError, SafetensorError, RuntimeError) as error:
        reason = str(error).strip().splitlines()
        raise InputError(f"does not fit: {' '.join(reason[:3])}", path=folder / WEIGHTS) from error
    tagger.eval()
    return Model(tagger, tags, tokenizer, padding_id, network, provenance, temperature)


def weights_hash(folder: Path) -> str:
    """SHA-256 of a model folder's weights. Raises InputError for a folder that is none of ours."""
    read_description(folder)
    need(folder, (WEIGHTS,))
    return hash_of((folder / WEIGHTS).read_bytes())
