"""A model folder: weights and everything that gives them meaning.

    trigner.json         format version, scheme, labels, network, hashes of the two files below
                         that weights do not settle, provenance
    model.safetensors    all weights, the encoder's included
    encoder/config.json  the encoder's architecture
    tokenizer.json       the tokenizer, special words included

Loading is strict and unpickles nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import nn

from trigner import __version__
from trigner.batches import WordPieces
from trigner.errors import InputError, TrignerError
from trigner.networks.build import build_tagger, encoder_from_config, load_encoder, rows_needed
from trigner.networks.settings import NetworkSettings
from trigner.networks.tagger import GridTagger
from trigner.schemes import Scheme, scheme

FORMAT_VERSION = 2
DESCRIPTION, WEIGHTS, ENCODER, TOKENIZER = (
    "trigner.json",
    "model.safetensors",
    "encoder",
    "tokenizer.json",
)
CONFIG = f"{ENCODER}/config.json"


@dataclass(frozen=True)
class Model:
    """A tagger with the scheme that reads its scores and the tokenizer that feeds it.

    `provenance` is free: settings of the training, scores, versions; it travels in the folder.
    """

    tagger: GridTagger
    scheme: Scheme
    tokenizer: Tokenizer
    padding_id: int
    network: NetworkSettings
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def word_pieces(self) -> WordPieces:
        return WordPieces(self.tokenizer, self.network.leading_words)

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
    tagger = build_tagger(pretrained, network, len(tags.tags))
    return Model(tagger, tags, tokenizer, padding_id, network)


def save(model: Model, folder: Path) -> None:
    """Write the model folder: all of it or nothing.

    Every file is first written beside its final name, so that a full disk is met while the old
    files are still in place. Raises TrignerError when it cannot be written.
    """
    config = model.tagger.encoder.model.config.to_json_string().encode("utf-8")
    tokenizer = model.tokenizer.to_str().encode("utf-8")
    description = {
        "format": FORMAT_VERSION,
        "trigner": __version__,
        "scheme": model.scheme.name,
        "labels": list(model.scheme.labels),
        "padding_id": model.padding_id,
        "network": model.network.model_dump(mode="json"),
        "files": {CONFIG: _hash(config), TOKENIZER: _hash(tokenizer)},
        "provenance": dict(model.provenance),
    }
    state = {name: tensor.contiguous() for name, tensor in model.tagger.state_dict().items()}
    writers: dict[Path, Callable[[Path], object]] = {
        folder / CONFIG: lambda path: path.write_bytes(config),
        folder / TOKENIZER: lambda path: path.write_bytes(tokenizer),
        folder / WEIGHTS: lambda path: save_file(state, path),
        folder / DESCRIPTION: lambda path: path.write_text(
            json.dumps(description, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        ),
    }
    try:
        (folder / ENCODER).mkdir(parents=True, exist_ok=True)
        _replace_together(writers)
    except (OSError, SafetensorError) as error:
        raise TrignerError(f"cannot save the model in {folder}: {error}") from error


def _replace_together(writers: dict[Path, Callable[[Path], object]]) -> None:
    """New files for old ones: all, or on any failure none.

    The last file stands for the whole: it goes first and comes last, so that what an end in
    between leaves behind is refused, not mistaken for a model.
    """
    new = {path: path.with_name(path.name + ".partial") for path in writers}
    old = {path: path.with_name(path.name + ".previous") for path in writers}
    moves: list[tuple[Path, Path]] = []
    try:
        for path, write in writers.items():
            write(new[path])
        for path in reversed(writers):
            if path.exists():
                _move(path, old[path], moves)
        for path in writers:
            _move(new[path], path, moves)
    except BaseException:
        for source, target in reversed(moves):
            os.replace(target, source)
        raise
    finally:
        for path in new.values():
            path.unlink(missing_ok=True)
    for path in old.values():
        path.unlink(missing_ok=True)


def _move(source: Path, target: Path, moves: list[tuple[Path, Path]]) -> None:
    os.replace(source, target)
    moves.append((source, target))


def load(folder: str | Path) -> Model:
    """The model in a folder. Raises InputError naming the file that is missing or foreign."""
    folder = Path(folder)
    description = read_description(folder)
    for needed in (WEIGHTS, CONFIG, TOKENIZER):
        if not (folder / needed).is_file():
            raise InputError(f"this model folder has no {needed}", path=folder)
    try:
        network = NetworkSettings.model_validate(description["network"])
        tags = scheme(str(description["scheme"]), _labels(description["labels"]))
        padding_id = int(description["padding_id"])
        hashes = {name: str(description["files"][name]) for name in (CONFIG, TOKENIZER)}
        provenance = dict(description["provenance"])
    except (InputError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"is damaged: {error}", path=folder / DESCRIPTION) from error
    try:
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    except Exception as error:  # the library raises bare Exception
        raise InputError(f"is no tokenizer: {error}", path=folder / TOKENIZER) from error
    try:
        encoder = encoder_from_config(folder / ENCODER)
    except Exception as error:  # what is no configuration fails in nearly every way
        raise InputError(f"is no encoder configuration: {error}", path=folder / CONFIG) from error
    lacking = [w for w in network.leading_words if tokenizer.token_to_id(w) is None]
    if lacking:
        raise InputError(f"is another encoder's: it lacks {lacking}", path=folder / TOKENIZER)
    held = cast(nn.Embedding, encoder.get_input_embeddings()).num_embeddings
    if rows_needed(tokenizer) > held:
        raise InputError(
            f"is another encoder's: it knows {rows_needed(tokenizer)} pieces, the model {held}",
            path=folder / TOKENIZER,
        )
    for name, expected in hashes.items():
        if _hash((folder / name).read_bytes()) != expected:
            raise InputError("is not the one that this model was saved with", path=folder / name)
    tagger = build_tagger(encoder, network, len(tags.tags))
    try:
        tagger.load_state_dict(load_file(folder / WEIGHTS), strict=True)
    except (OSError, SafetensorError, RuntimeError) as error:
        reason = str(error).strip().splitlines()
        raise InputError(f"does not fit: {' '.join(reason[:3])}", path=folder / WEIGHTS) from error
    tagger.eval()
    return Model(tagger, tags, tokenizer, padding_id, network, provenance)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def weights_hash(folder: Path) -> str:
    """SHA-256 of a model folder's weights. Raises InputError for a folder that is none of ours."""
    read_description(folder)
    try:
        with (folder / WEIGHTS).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"this model folder has no {WEIGHTS}", path=folder) from error


def _labels(found: object) -> list[str]:
    if not isinstance(found, list) or not all(isinstance(label, str) for label in found):
        raise ValueError("the labels are no list of names")
    return found


def read_description(folder: Path) -> dict[str, Any]:
    """What `trigner.json` says. Raises InputError for a folder that is none of ours."""
    if not folder.is_dir():
        raise InputError("no such model folder", path=folder)
    path = folder / DESCRIPTION
    if not path.is_file():
        raise InputError(f"is no trigner model folder: it has no {DESCRIPTION}", path=folder)
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"is damaged: {error}", path=path) from error
    if not isinstance(description, dict) or "format" not in description:
        raise InputError("was not written by trigner", path=path)
    if description["format"] != FORMAT_VERSION:
        raise InputError(
            f"has model format {description['format']!r}; this trigner reads {FORMAT_VERSION}",
            path=path,
        )
    return description
