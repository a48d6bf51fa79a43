"""Files <-> documents: one module a format, one table of formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trigner.corpora.formats import (
    FORMATS,
    Format,
    expected_counts,
    known,
    note_what_is_passed_over,
    recognise,
    recognise_corpus,
)
from trigner.corpora.jsonl import as_json_line
from trigner.corpora.parts import NoPartError
from trigner.corpora.published import Counts
from trigner.corpora.reading import Notice, Reading, WriteReport
from trigner.corpora.words import document_of
from trigner.errors import InputError
from trigner.mentions import Document

__all__ = [
    "FORMATS",
    "Corpus",
    "Counts",
    "Format",
    "NoPartError",
    "Notice",
    "WriteReport",
    "as_json_line",
    "document_of",
    "expected_counts",
    "read",
    "write",
]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents, the format they came in and what its reader had to tell."""

    documents: tuple[Document, ...]
    format: str
    notices: tuple[Notice, ...]

    @property
    def left_out(self) -> int:
        """Annotations that could not be trusted and are missing from the documents."""
        return sum(notice.left_out for notice in self.notices)


def read(
    path: str | Path,
    *,
    format: str | None = None,
    skip_bad: bool = False,
    split: str | None = None,
) -> Corpus:
    """The documents of a file or folder, in the given format or the one it is recognised to be.

    `split` names a part of the corpus (`train`, `dev`, `test`): what the reader of a corpus takes
    for it; with other formats, a folder or file of that name below `path`. Raises NoPartError when
    there is no such part, and InputError, naming file and line, for input that cannot be trusted;
    with `skip_bad` single annotations are left out instead and listed in `Corpus.notices`.
    """
    path = Path(path)
    if not path.exists():
        raise InputError("no such file or folder", path=path)
    chosen = recognise_corpus(path) if format is None else known(format)
    reading = Reading(skip_bad=skip_bad)
    if split is not None and chosen is not None and chosen.read_part is not None:
        documents = tuple(chosen.read_part(path, reading, split))
    else:
        path = path if split is None else _part(path, split)
        chosen = chosen or recognise(path)
        documents = tuple(chosen.read(path, reading))
    if path.is_dir():
        note_what_is_passed_over(path, chosen, reading)
    seen: set[str] = set()
    for document in documents:
        if document.id in seen:
            raise InputError(f"two documents have the id {document.id!r}", path=path)
        seen.add(document.id)
    return Corpus(documents, chosen.name, tuple(reading.notices))


def write(documents: Sequence[Document], path: str | Path, *, format: str) -> WriteReport:
    """Write documents in a format; the report counts what it has no place for.

    Raises InputError for a format that is unknown or only read and for a folder in place of a file
    or the other way round, TrignerError when writing fails.
    """
    chosen = known(format)
    if chosen.write is None:
        writable = ", ".join(name for name, other in FORMATS.items() if other.write)
        raise InputError(f"{format} can only be read; these can be written: {writable}")
    path = Path(path)
    if path.is_dir() and not chosen.writes_folder:
        raise InputError(f"is a folder: {format} is written to a file in it; name one", path=path)
    if chosen.writes_folder and path.exists() and not path.is_dir():
        raise InputError(f"is a file: {format} is written to a folder", path=path)
    return chosen.write(documents, path)


def _part(path: Path, split: str) -> Path:
    names = [split, *(f"{split}{suffix}" for suffix in (".json", ".jsonl", ".txt", ".inline"))]
    found = [path / name for name in names if (path / name).exists()]
    if len(found) != 1:
        raise NoPartError(f"has no part {split!r}: looked for {', '.join(names)}", path=path)
    return found[0]
