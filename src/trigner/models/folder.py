"""Model folders: the description of each, and how its files are written whole and checked.

    trigner.json     the `Description`: system, labels, settings, hashes of the files, provenance

and the system's own files: of a tagger `tokenizer.json`, with either what PyTorch loads
(`model.safetensors`, `encoder/config.json`) or what ONNX Runtime does (`model.onnx`). Nothing here
needs PyTorch, and nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from tokenizers import Tokenizer

from trigner import __version__
from trigner.errors import InputError, TrignerError
from trigner.machine import flaw_of, remove_leftovers, replace_together, unique_keys, write_text

OwnSettings = TypeVar("OwnSettings", bound=BaseModel)

FORMAT_VERSION = 1
HASH = "sha256"
CHANGED = "checksum mismatch: changed since it was saved"
DESCRIPTION = "trigner.json"
TOKENIZER = "tokenizer.json"
GRAPH = "model.onnx"
WEIGHTS = "model.safetensors"
CONFIG = "encoder/config.json"
CARD = "README.md"
"""The model card; a folder may lack it."""

FILE_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)*", re.ASCII)
"""Names of a model's files: no hidden ones, no patterns, nothing outside the folder."""

LONGEST_DESCRIPTION = 16 * 2**20
"""Bytes."""

LONGEST_LABEL = 1000
"""Characters."""
_NAMED = 10  # labels, in a line

TEMPERATURES = (0.01, 100.0)
"""Least and greatest. Far beyond what calibration finds, and no score becomes infinite."""

BUNDLED = Path(__file__).parents[1] / "bundled"
"""The model that ships with the package: adverse reactions, in 8 bits, without PyTorch."""


class _Part(BaseModel):
    # What other versions add travels along.
    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)


class Runtime(_Part):
    """What an exported graph needs to be run."""

    precision: str = "float32"
    special_words: tuple[str, ...] = ()
    max_subwords: int = Field(ge=1, le=1_000_000)
    difference: float | None = None


class TrainingPart(_Part):
    """The documents that a model was trained on."""

    documents: int | None = None
    sentences: int | None = None
    mentions: int | None = None
    unusable: dict[str, int] = {}
    made: int = 0
    signature: str | None = None


class DevPart(_Part):
    """The documents that chose the epoch, and how the model scores on them."""

    documents: int | None = None
    epoch: int | None = None
    scores: dict[str, Any] = {}
    signature: str | None = None


class Provenance(_Part):
    """Where a model comes from. All of it is optional; other parts with scores may be added."""

    settings: dict[str, Any] = {}
    parameters: int | None = None
    train: TrainingPart = TrainingPart()
    dev: DevPart = DevPart()
    calibration: dict[str, Any] | None = None
    licence: str | None = None
    data: str | None = None
    recipe: str | None = None
    init_from: dict[str, str] | None = None
    teachers: list[dict[str, str]] | None = None


class Description(_Part):
    """A model: its system, labels, own settings and files.

    `model` are the system's own settings, `state` what else its loader needs, `files` the SHA-256
    of each file. `runtime` is there when ONNX Runtime runs it.
    """

    format: int = FORMAT_VERSION
    trigner: str = __version__
    system: str
    package: str = "trigner"
    labels: tuple[str, ...]
    model: dict[str, Any] = {}
    state: dict[str, Any] = {}
    temperature: float = 1.0
    runtime: Runtime | None = None
    files: dict[str, str]
    provenance: Provenance = Provenance()

    def settings(self, kind: type[OwnSettings], folder: Path) -> OwnSettings:
        """The system's own settings. Raises InputError, naming `folder`, when it has none."""
        try:
            return kind.model_validate(self.model)
        except ValidationError as error:
            raise InputError(f"is damaged: {error}", path=folder / DESCRIPTION) from error

    @property
    def about(self) -> str:
        """One line for whoever found nothing: what it looks for, and what it was trained on."""
        named = ", ".join(self.labels[:_NAMED]) + (" ..." if len(self.labels) > _NAMED else "")
        data, documents = self.provenance.data or "", self.provenance.train.documents
        # "posts: PsyTAR, by ...; labels: SPL, by ...": what they are, not where they are from.
        kinds = [part.partition(":")[0].strip() for part in data.split(";") if ":" in part]
        trained = " and ".join(kinds) or data or (f"{documents:,} documents" if documents else "")
        on = f" and was trained on {trained}: on other texts it finds less" if trained else ""
        return f"The model looks for {named}{on}."

    @field_validator("temperature")
    @classmethod
    def _in_range(cls, value: float) -> float:
        least, greatest = TEMPERATURES
        if not least <= value <= greatest:
            raise ValueError(f"must be a number from {least:g} to {greatest:g}, not {value}")
        return value

    @field_validator("labels")
    @classmethod
    def _named(cls, labels: tuple[str, ...]) -> tuple[str, ...]:
        if not labels or not all(labels) or len(set(labels)) < len(labels):
            raise ValueError("must be different names, at least one")
        if max(map(len, labels)) > LONGEST_LABEL:
            raise ValueError(f"must be names of at most {LONGEST_LABEL:,} characters")
        return labels

    @field_validator("files")
    @classmethod
    def _inside(cls, files: dict[str, str]) -> dict[str, str]:
        # What a description says is no reason to look elsewhere on the disk.
        for name in files:
            if not FILE_NAME.fullmatch(name) or name in (DESCRIPTION, CARD):
                raise ValueError(f"{name!r} is not a file of a model folder")
        return files

    @property
    def is_exported(self) -> bool:
        """Whether ONNX Runtime runs this model, not PyTorch."""
        return self.runtime is not None

    @property
    def all_files(self) -> tuple[str, ...]:
        """The files of the model, the description itself last."""
        return (*self.files, DESCRIPTION)

    def as_json(self) -> str:
        """The text of `trigner.json`."""
        head = {"format": FORMAT_VERSION, "trigner": __version__}
        whole = {**head, **self.model_dump(mode="json", exclude_defaults=True), **head}
        whole[HASH] = hash_of_description(whole)
        return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def read_description(folder: Path) -> Description:
    """What `trigner.json` says. Raises InputError for a folder without a readable one."""
    if not folder.is_dir():
        raise InputError("no such model folder", path=folder)
    path = folder / DESCRIPTION
    if not path.is_file():
        raise InputError(f"is not a trigner model folder: it has no {DESCRIPTION}", path=folder)
    content = _read(path)
    if not isinstance(content, dict) or "format" not in content:
        raise InputError("was not written by trigner", path=path)
    for name, value in content.items():
        if flaw := flaw_of({name: value}):
            shown = name.encode("utf-8", "backslashreplace").decode()
            raise InputError(f"is damaged: {shown}: {flaw}", path=path)
    if type(content["format"]) is not int or content["format"] != FORMAT_VERSION:
        raise InputError(
            f"has model format {content['format']!r}, written by trigner"
            f" {content.get('trigner', 'of an unknown version')}; this version reads format"
            f" {FORMAT_VERSION}: load it with the version that wrote it",
            path=path,
        )
    found = content.pop(HASH, None)
    expected = hash_of_description(content)
    try:
        description = Description.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise InputError(f"is damaged: {name}: {first['msg']}", path=path) from error
    if found is None:
        raise InputError(f"is damaged: {HASH}: it has no hash of its own", path=path)
    if found != expected:
        raise InputError(CHANGED, path=path)
    return description


def _read(path: Path) -> Any:
    """The JSON of a description. Raises InputError when it is none."""
    try:
        if path.stat().st_size > LONGEST_DESCRIPTION:
            raise InputError("is not a description: it is too large", path=path)
        text = path.read_text(encoding="utf-8")
        return json.loads(text, object_pairs_hook=unique_keys)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"is damaged: {error}", path=path) from error


def hash_of_description(content: Mapping[str, Any]) -> str:
    """SHA-256 of the JSON of a description without its own hash.

    Keys sorted, no blanks, ASCII alone: neither layout nor order of the file matters.
    """
    own = {name: value for name, value in content.items() if name != HASH}
    canonical = json.dumps(own, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def need(folder: Path, names: Iterable[str]) -> None:
    """Raises InputError naming the first of these files that the folder lacks."""
    for name in names:
        if not (folder / name).is_file():
            raise InputError(f"this model folder has no {name}", path=folder)


def check_files(folder: Path, description: Description, needed: Iterable[str] = ()) -> None:
    """Raises InputError naming a file that the folder lacks or that is not the one saved."""
    needed = tuple(needed)
    need(folder, dict.fromkeys([*needed, *description.files]))
    for name in needed:
        if name not in description.files:
            raise InputError(f"is damaged: files: no hash of {name}", path=folder / DESCRIPTION)
    for name, expected in description.files.items():
        if hash_of_file(folder / name) != expected:
            raise InputError(CHANGED, path=folder / name)


def read_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a model folder. Raises InputError when it is none."""
    path = folder / TOKENIZER
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise InputError(f"is not a tokenizer: {error}", path=path) from error
    ids = tokenizer.get_vocab(with_added_tokens=True).values()
    # The library counts up to the largest whenever it copies a tokenizer.
    if max(ids, default=0) > 2 * len(ids) + 1000:
        message = f"is not a tokenizer: of {len(ids):,} subwords one has the id {max(ids):,}"
        raise InputError(message, path=path)
    return tokenizer


def padding_of(folder: Path, description: Description, tokenizer: Tokenizer) -> int:
    """The subword that fills a tagger's batches: 0 where its tokenizer knows no padding.

    Raises InputError when the tokenizer has no such subword.
    """
    found = description.state.get("padding_id")
    rows = 1 + max(tokenizer.get_vocab(with_added_tokens=True).values(), default=0)
    if type(found) is not int or not 0 <= found < rows:
        reason = f"state.padding_id: must be a subword of {TOKENIZER}, 0 to {rows - 1}"
        raise InputError(f"is damaged: {reason}", path=folder / DESCRIPTION)
    return found


def hash_of_file(path: Path) -> str:
    """SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fingerprint(model: Path, *, described: bool = True) -> str:
    """A hash of a model's files, and of its description unless not `described`.

    Raises InputError for a folder that is not a model's.
    """
    names = [*([DESCRIPTION] if described else []), *sorted(read_description(model).files)]
    need(model, names)
    hashes = [[name, hash_of_file(model / name)] for name in names]
    return hashlib.sha256(json.dumps(hashes).encode()).hexdigest()


def save_model(
    folder: Path,
    description: Description,
    files: Mapping[str, Callable[[Path], object]],
    *,
    overwrite: bool = True,
) -> Description:
    """Write a model folder, all of it or nothing; gives the description with the files' hashes.

    Every file is first written next to its final name, so that a full disk is met while the old
    files are still in place. Raises TrignerError when it cannot be written, or a file of it has
    appeared and not `overwrite`.
    """
    hashes: dict[str, str] = {}
    written: list[Description] = []

    def write(name: str, path: Path) -> None:
        files[name](path)
        hashes[name] = hash_of_file(path)

    def describe(path: Path) -> None:
        whole = description.model_copy(update={"files": hashes})
        path.write_text(whole.as_json(), encoding="utf-8")
        written.append(whole)

    writers = {folder / name: partial(write, name) for name in files}
    try:
        for path in writers:
            path.parent.mkdir(parents=True, exist_ok=True)
        replace_together({**writers, folder / DESCRIPTION: describe}, overwrite=overwrite)
    except OSError as error:
        raise TrignerError(f"cannot save the model in {folder}: {error}") from error
    return written[0]


def describe_again(folder: Path, description: Description) -> None:
    """Write another description for the files that are there."""
    path = folder / DESCRIPTION
    remove_leftovers(path)
    write_text(path, description.as_json())
