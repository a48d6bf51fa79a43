"""Files <-> documents: one module a format, one table of formats."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trigner.corpora.encodings import UTF_8, EncodingError, checked_encoding
from trigner.corpora.folders import check_file, check_files, files_in, walk, without_ending
from trigner.corpora.formats import (
    FORMATS,
    WRITABLE,
    Format,
    known,
    likely,
    note_skipped_files,
    part_names,
    recognise,
    recognise_corpus,
)
from trigner.corpora.jsonl import LineWriter, as_json_line, read_lines
from trigner.corpora.parts import PARTS, NoPartError
from trigner.corpora.published import Counts
from trigner.corpora.reading import (
    MissingAnnotations,
    Notice,
    Reading,
    WriteReport,
    decoded_lines,
    opened,
    read_text,
)
from trigner.corpora.references import count_of, say_labels, without_dangling
from trigner.corpora.strict_json import flaw_in
from trigner.corpora.tables import allow_long_cells, check_names, check_row_groups
from trigner.corpora.words import document_of
from trigner.corpora.xml_elements import NOT_XML
from trigner.errors import InputError
from trigner.machine import staged
from trigner.mentions import Document, Fragment, shortened

__all__ = [
    "FORMATS",
    "NOT_XML",
    "PARTS",
    "WRITABLE",
    "Corpus",
    "Counts",
    "EncodingError",
    "Format",
    "LineWriter",
    "MissingAnnotations",
    "NoPartError",
    "Notice",
    "Reading",
    "Source",
    "WriteReport",
    "allow_long_cells",
    "as_json_line",
    "check_names",
    "check_row_groups",
    "checked_encoding",
    "count_of",
    "decoded_lines",
    "document_of",
    "files_in",
    "opened",
    "read",
    "read_lines",
    "read_text",
    "say_labels",
    "source",
    "walk",
    "with_types",
    "without_ending",
    "writable",
    "write",
]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents, the format they came in and its reader's notices."""

    documents: tuple[Document, ...]
    format: str
    notices: tuple[Notice, ...]

    @property
    def left_out(self) -> int:
        """Number of invalid annotations, which are missing from the documents."""
        return sum(notice.left_out for notice in self.notices)


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder whose format is known, read one document at a time, as often as needed."""

    path: Path
    format: Format
    part: str | None = None
    """Of a corpus that says itself what belongs to it."""

    def documents(self, reading: Reading) -> Iterator[Document]:
        """The documents, with ids that are unique.

        Raises InputError, naming file and line, for input that cannot be trusted, when it comes to
        it.
        """
        if self.path.is_dir():
            check_files(self.path, self.format.endings)
        if self.part is not None and self.format.read_part is not None:
            found = self.format.read_part(self.path, reading, self.part)
        else:
            found = self.format.read(self.path, reading)
        seen: set[str] = set()
        noted = dangling = 0
        for document in found:
            if any(notice.left_out for notice in reading.notices[noted:]):
                whole = without_dangling(document)
                dangling += count_of([document]) - count_of([whole])
                document = whole
            noted = len(reading.notices)
            if document.id in seen:
                raise InputError(f"duplicate document id {shortened(document.id)}", path=self.path)
            seen.add(document.id)
            yield document
        if dangling:
            what = "relations, events or notes left out, as they name annotations that are"
            reading.note(f"{what}: {dangling:,}", path=self.path)
        if self.path.is_dir():
            note_skipped_files(self.path, self.format, reading)


def source(path: str | Path, *, format: str | None = None, split: str | None = None) -> Source:
    """A file or folder in the given format or the one it is recognised to be.

    `split` names a part (`train`, `dev`, `test`): of a corpus as its reader divides it, in other
    formats the folder or file of that name below `path`. Raises NoPartError when there is no such
    part, InputError when there are two, or nothing at `path`, or its format is not known.
    """
    path = Path(path)
    if not path.exists():
        check_file(path)
        raise InputError("no such file or folder", path=path)
    if not path.is_file() and not path.is_dir():
        # A pipe can be read only once, and reading it to recognise its format would wait for ever.
        message = "is neither a file nor a folder: write what comes through it to a file"
        raise InputError(message, path=path)
    chosen = recognise_corpus(path) if format is None else known(format)
    if split is not None and chosen is not None and chosen.read_part is not None:
        return Source(path, chosen, split)
    path = path if split is None else _part(path, split, chosen)
    return Source(path, chosen or recognise(path))


def read(
    path: str | Path,
    *,
    format: str | None = None,
    skip_bad: bool = False,
    split: str | None = None,
    encoding: str = UTF_8,
    missing_annotations: MissingAnnotations = "empty",
    text_column: str | None = None,
    id_column: str | None = None,
) -> Corpus:
    """All documents of a file or folder; format and split as for `source`.

    Raises NoPartError when there is no such part, and InputError, naming file and line, for input
    that cannot be trusted; with `skip_bad` single annotations and files that are not in the
    encoding are left out instead and listed in `Corpus.notices`. See `Reading` for the rest.
    """
    found = source(path, format=format, split=split)
    reading = Reading(
        skip_bad,
        checked_encoding(encoding),
        missing_annotations,
        text_column=text_column,
        id_column=id_column,
    )
    documents = tuple(found.documents(reading))
    return Corpus(documents, found.format.name, tuple(reading.notices))


def writable(format: str, path: str | Path) -> Format:
    """The format, which can be written to `path`.

    Raises InputError for a format that is unknown or only read and for a folder in place of a file
    or the other way round, TrignerError for one that needs a package that is not installed.
    """
    chosen, path = FORMATS.get(format), Path(path)
    if chosen is None or chosen.write is None:
        wrong = f"unknown format {format!r}" if chosen is None else f"{format} is read-only"
        raise InputError(f"{wrong}; writable formats: {', '.join(WRITABLE)}")
    if path.is_dir() and not chosen.writes_folder:
        raise InputError(f"is a folder, and {format} is written to a file: name a file", path=path)
    if chosen.writes_folder and path.exists() and not path.is_dir():
        raise InputError(f"is a file, and {format} is written to a folder", path=path)
    chosen.check_installed(path)
    return chosen


def write(
    documents: Iterable[Document], path: str | Path, *, format: str, overwrite: bool = True
) -> WriteReport:
    """Write documents in a format, as they come; the report counts what it cannot hold.

    A file gets its name when it is whole; when something fails before, what there is of it stays
    at `partial_of(path)` (of csv, parquet and spacy, which wait for the last document, nothing).
    Without `overwrite` no file is replaced, in a folder neither, and of one that fails nothing
    stays. Raises InputError as `writable` does, for scores and fields that
    JSON cannot hold, whether the format holds them or not, and for an id that comes again in a
    format that has ids, TrignerError when writing fails.
    """
    chosen = writable(format, path)
    assert chosen.write is not None  # `writable` says so
    documents = _checked(documents, Path(path), has_ids=chosen.has_ids)
    if not overwrite:
        if chosen.write_new is not None:
            return chosen.write_new(documents, Path(path))
        with staged(Path(path)) as new:
            return chosen.write(documents, new)
    return chosen.write(documents, Path(path))


def _checked(documents: Iterable[Document], path: Path, *, has_ids: bool) -> Iterable[Document]:
    """The documents: a sequence is looked through at once, and stays one."""
    checked = _each_checked(documents, path, has_ids=has_ids)
    return tuple(checked) if isinstance(documents, Sequence) else checked


def _each_checked(
    documents: Iterable[Document], path: Path, *, has_ids: bool
) -> Iterator[Document]:
    seen: set[str] = set()
    for document in map(_with_plain_numbers, documents):
        own = [*document.fields.items()]
        own += [pair for e in document.entities for pair in (("score", e.score), *e.fields.items())]
        for name, value in own:
            if flaw := flaw_in(value):
                message = f"document {shortened(document.id)}: {shortened(name)} has {flaw}"
                raise InputError(message, path=path)
        if document.id in seen:
            raise InputError(f"duplicate document id {shortened(document.id)}", path=path)
        if has_ids:
            seen.add(document.id)
        yield document


def _with_plain_numbers(document: Document) -> Document:
    """The document with Python's offsets and scores in the place of NumPy's, which JSON does not
    know."""
    fragments = [*(document.words or ()), *(f for e in document.entities for f in e.fragments)]
    types = {type(bound) for fragment in fragments for bound in fragment}
    if types <= {int} and {type(e.score) for e in document.entities} <= {float, int, type(None)}:
        return document
    entities = (
        replace(
            entity,
            fragments=_plain(entity.fragments),
            score=None if entity.score is None else float(entity.score),
        )
        for entity in document.entities
    )
    words = None if document.words is None else _plain(document.words)
    return replace(document, entities=tuple(entities), words=words)


def _plain(fragments: Iterable[Fragment]) -> tuple[Fragment, ...]:
    return tuple((int(start), int(end)) for start, end in fragments)


def with_types(
    documents: Iterable[Document], types: Collection[str] | None
) -> tuple[Document, ...]:
    """The documents with entities of these types only; None: of all types.

    Relations, events and notes of the others go with them. Raises InputError for a string.
    """
    if isinstance(types, str):
        raise InputError(f"types are a list of names, not one string: {shortened(types)}")
    if types is None:
        return tuple(documents)
    return tuple(_of_types(document, types) for document in documents)


def _of_types(document: Document, types: Collection[str]) -> Document:
    entities = tuple(entity for entity in document.entities if entity.label in types)
    if len(entities) == len(document.entities):
        return document
    return without_dangling(replace(document, entities=entities))


def _part(path: Path, split: str, chosen: Format | None) -> Path:
    names = part_names(split)
    found = [name for name in names if (path / name).exists()]
    found = (likely(found, split, chosen) or found) if len(found) > 1 else found
    if len(found) > 1:
        advice = "name the format that is meant, or its path"
        raise InputError(
            f"could be two parts {split!r}, {' and '.join(found)}: {advice}", path=path
        )
    if not found:
        raise NoPartError(f"has no part {split!r}: looked for {', '.join(names)}", path=path)
    return path / found[0]
