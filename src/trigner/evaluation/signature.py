"""What a result was measured on and with: without it a score cannot be compared."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Iterable, Mapping
from importlib import metadata
from operator import index
from typing import Any

from trigner import __version__
from trigner.errors import InputError
from trigner.mentions import Document

PACKAGES = ("numpy", "onnxruntime", "tokenizers", "torch", "transformers")
"""Packages whose versions may move a score."""

_SHOWN = 8


def sign(
    documents: Iterable[Document],
    *,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> str:
    """The signature of a result on these gold documents: `data:...|documents:...|...`.

    Hashes of data and `settings` (what `json` can write, in any order) by their first 8 digits,
    the seed, and versions; no package is imported to learn its version. Raises InputError for
    settings that `json` cannot write.
    """
    documents = tuple(documents)
    parts: dict[str, object] = {"data": data_hash(documents)[:_SHOWN], "documents": len(documents)}
    if settings is not None:
        parts["settings"] = _settings_hash(settings)[:_SHOWN]
    if seed is not None:
        parts["seed"] = seed
    parts |= {"version": __version__, "python": platform.python_version()}
    parts |= {name: found for name in PACKAGES if (found := _version(name))}
    return "|".join(f"{name}:{value}" for name, value in parts.items())


def same_data(signature: str | None, other: str | None) -> bool:
    """Whether two signatures are of results on the same gold documents."""
    return bool(signature and other) and _data(signature) == _data(other)


def _data(signature: str | None) -> list[str]:
    parts = (signature or "").split("|")
    return [part for part in parts if part.startswith(("data:", "documents:"))]


def data_hash(documents: Iterable[Document], *, in_order: bool = False) -> str:
    """SHA-256 (64 hex digits) over ids, texts, given words and entity keys.

    The order of documents and of entities, entity ids, scores and anything else that no score
    depends on leave it as it is; `in_order` tells orders of documents apart.
    """
    parts = [
        # Offsets may be NumPy's integers.
        _digest([d.id, d.text, d.words, sorted({d.key(e) for e in d.entities})], default=index)
        for d in documents
    ]
    return _digest(parts if in_order else sorted(parts))


def _settings_hash(settings: Mapping[str, Any]) -> str:
    try:
        return _digest(settings)
    except (TypeError, ValueError) as error:
        raise InputError(f"settings cannot be written as JSON: {error}") from error


def _digest(value: object, *, default: Callable[[Any], object] | None = None) -> str:
    # ASCII escapes also carry lone surrogates, which UTF-8 cannot.
    written = json.dumps(
        value, sort_keys=True, separators=(",", ":"), allow_nan=False, default=default
    )
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
