"""What a result was measured on and with: without it a score cannot be compared."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from trigner import __version__
from trigner.errors import InputError
from trigner.mentions import Document

PACKAGES = ("numpy", "onnxruntime", "tokenizers", "torch", "transformers")
"""Packages whose versions may move a score."""

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Signature:
    """Data, settings, seed and versions behind a result; `str()` is the compact form.

    `data` is the full hash of the gold documents, `settings` of the settings (None: none were
    given), both shown by their first 8 digits. `versions` are (package, version) as installed.
    """

    data: str
    documents: int
    settings: str | None
    seed: int | None
    version: str
    python: str
    versions: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        parts: list[tuple[str, object]] = [
            ("data", self.data[:_SHOWN]),
            ("documents", self.documents),
        ]
        if self.settings is not None:
            parts.append(("settings", self.settings[:_SHOWN]))
        if self.seed is not None:
            parts.append(("seed", self.seed))
        parts += [("version", self.version), ("python", self.python), *self.versions]
        return "|".join(f"{name}:{value}" for name, value in parts)


def sign(
    documents: Iterable[Document],
    *,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> Signature:
    """The signature of a result on these gold documents.

    `settings` is what `json` can write, in any order. No package is imported to learn its
    version. Raises InputError for settings that `json` cannot write.
    """
    documents = tuple(documents)
    return Signature(
        data=data_hash(documents),
        documents=len(documents),
        settings=None if settings is None else _settings_hash(settings),
        seed=seed,
        version=__version__,
        python=platform.python_version(),
        versions=tuple((name, found) for name in PACKAGES if (found := _version(name))),
    )


def data_hash(documents: Iterable[Document]) -> str:
    """SHA-256 (64 hex digits) over ids, texts, given words and entity keys.

    The order of documents and of entities, entity ids, scores and anything else that no score
    depends on leave it as it is.
    """
    parts = sorted(
        _digest([d.id, d.text, d.words, sorted({d.key(e) for e in d.entities})]) for d in documents
    )
    return _digest(parts)


def _settings_hash(settings: Mapping[str, Any]) -> str:
    try:
        return _digest(settings)
    except (TypeError, ValueError) as error:
        raise InputError(f"settings cannot be written as JSON: {error}") from error


def _digest(value: object) -> str:
    # ASCII escapes also carry lone surrogates, which UTF-8 cannot.
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
