"""What stands in a model folder beside its weights, and how folders are read and written.

    trigner.json     format version, scheme, labels, network, hashes of the other files, provenance
    tokenizer.json   the tokenizer, special words included

and either what PyTorch loads (`networks.model`) or what ONNX Runtime does (`inference.export`).
Nothing here needs PyTorch, and nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from trigner import __version__
from trigner.errors import InputError
from trigner.schemes import Scheme, scheme

FORMAT_VERSION = 4
DESCRIPTION, TOKENIZER, GRAPH = "trigner.json", "tokenizer.json", "model.onnx"
WEIGHTS, CONFIG = "model.safetensors", "encoder/config.json"
CARD = "README.md"
"""The model card; a folder may lack it."""

BUNDLED = Path(__file__).with_name("bundled")
"""The model that ships with the package: adverse reactions, in 8 bits, without PyTorch."""


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


def is_exported(description: Mapping[str, Any]) -> bool:
    """Whether ONNX Runtime loads this folder, not PyTorch."""
    return "runtime" in description


def files_of(description: Mapping[str, Any]) -> tuple[str, ...]:
    """The files of a model with this description, the description itself last."""
    own = (GRAPH,) if is_exported(description) else (CONFIG, WEIGHTS)
    return (*own, TOKENIZER, DESCRIPTION)


def scheme_of(description: Mapping[str, Any]) -> Scheme:
    """The scheme with its labels. Raises InputError, KeyError or ValueError when damaged."""
    labels = description["labels"]
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise ValueError("the labels are no list of names")
    return scheme(str(description["scheme"]), labels)


def need(folder: Path, names: Iterable[str]) -> None:
    """Raises InputError naming the first of these files that the folder lacks."""
    for name in names:
        if not (folder / name).is_file():
            raise InputError(f"this model folder has no {name}", path=folder)


def read_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a model folder. Raises InputError when it is none."""
    try:
        return Tokenizer.from_file(str(folder / TOKENIZER))
    except Exception as error:  # the library raises bare Exception
        raise InputError(f"is no tokenizer: {error}", path=folder / TOKENIZER) from error


def hash_of(content: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def check_hashes(folder: Path, hashes: Mapping[str, str]) -> None:
    """Raises InputError naming the first file that is not the one that was saved."""
    for name, expected in hashes.items():
        if hash_of((folder / name).read_bytes()) != expected:
            raise InputError("is not the one that this model was saved with", path=folder / name)


def description_as_json(values: Mapping[str, Any]) -> str:
    """The text of `trigner.json`."""
    whole = {"format": FORMAT_VERSION, "trigner": __version__, **values}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
