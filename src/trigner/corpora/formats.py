"""The formats that corpora come in: one line each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from trigner.corpora import (
    bigbio,
    brat,
    cadec,
    cas,
    conll,
    csv_tables,
    docbin,
    doccano,
    fda_labels,
    gliner,
    grid,
    hf_tokens,
    inline,
    jsonl,
    label_studio,
    parquet,
    prodigy,
    share13,
    share14,
    spans,
    tables,
)
from trigner.corpora.folders import check_files, has_ending, walk
from trigner.corpora.published import Counts
from trigner.corpora.reading import Reading, WriteReport
from trigner.errors import InputError, require_extra
from trigner.mentions import Document

Recognises = Callable[[Path], bool]
Read = Callable[[Path, Reading], Iterator[Document]]
ReadPart = Callable[[Path, Reading, str], Iterator[Document]]
Write = Callable[[Iterable[Document], Path], WriteReport]
Check = Callable[[Iterable[Document], Path], Iterator[Document]]


@dataclass(frozen=True, slots=True)
class Format:
    """How a format is recognised, read and written (None: it is only read).

    `endings` are those of the files that it reads. `read_part` is for corpora that say themselves
    what belongs to train, dev and test; `published` are their sizes in the literature, by part
    (None: the whole corpus). Most write one file; `writes_folder` marks those that do not,
    `write_new` writes there and replaces nothing, and `check` passes on the documents that can be
    written there. `has_ids`: it holds the ids of documents.
    `is_credentialed`: its users have signed not to give it on. `extra` is what it needs beside the
    core: the name of an extra, and the package in it (None: nothing).
    """

    name: str
    description: str
    endings: tuple[str, ...]
    recognises: Recognises
    read: Read
    write: Write | None = None
    write_new: Write | None = None
    writes_folder: bool = False
    check: Check | None = None
    read_part: ReadPart | None = None
    published: Mapping[str | None, Counts] = field(default_factory=dict)
    has_ids: bool = True
    is_credentialed: bool = False
    extra: tuple[str, str] | None = None

    def check_installed(self, path: Path) -> None:
        """Raises TrignerError with the cure when what a file at `path` needs is not installed."""
        parquet = path.suffix.lower() == ".parquet" and ".parquet" in self.endings
        if needed := tables.EXTRA if parquet else self.extra:
            require_extra(*needed)


class _Reader(Protocol):
    """What the module of a format has."""

    NAME: str
    ENDINGS: tuple[str, ...]

    def recognises(self, path: Path) -> bool: ...

    def read(self, path: Path, reading: Reading) -> Iterator[Document]: ...


class _Module(_Reader, Protocol):
    """What the module of a format that is written too has."""

    def write(self, documents: Iterable[Document], path: Path) -> WriteReport: ...


class _FolderModule(_Reader, Protocol):
    """What the module of a format has that is written to a folder."""

    def checked(self, documents: Iterable[Document], path: Path) -> Iterator[Document]: ...

    def write(
        self, documents: Iterable[Document], path: Path, *, overwrite: bool = True
    ) -> WriteReport: ...


class _CorpusModule(Protocol):
    """What the module of a corpus has."""

    NAME: str
    ENDINGS: tuple[str, ...]
    PUBLISHED: Mapping[str | None, Counts]

    def recognises(self, path: Path) -> bool: ...

    def read(
        self, path: Path, reading: Reading, split: str | None = None
    ) -> Iterator[Document]: ...


def _format(of: _Module, description: str) -> Format:
    return Format(of.NAME, description, of.ENDINGS, of.recognises, of.read, of.write)


def _folder(of: _FolderModule, description: str) -> Format:
    """A format of a file or two a document, in a folder."""
    return replace(
        _format(of, description),
        write_new=partial(of.write, overwrite=False),
        writes_folder=True,
        check=of.checked,
    )


def _read_only(of: _Reader, description: str) -> Format:
    return Format(of.NAME, description, of.ENDINGS, of.recognises, of.read)


def _corpus(of: _CorpusModule, description: str, *, is_credentialed: bool = False) -> Format:
    """A corpus as its users unpack it: read only, whole or by part."""
    return Format(
        of.NAME,
        f"{description}, as unpacked",
        of.ENDINGS,
        of.recognises,
        of.read,
        read_part=of.read,
        published=of.PUBLISHED,
        is_credentialed=is_credentialed,
    )


FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        _folder(brat, "brat standoff, .txt with .ann"),
        _format(grid, "W2NER's grid JSON"),
        replace(_format(inline, "Dai's inline text"), has_ids=False),
        _format(bigbio, "BigBio KB JSON"),
        _format(jsonl, "JSON lines, ours"),
        _format(prodigy, "Prodigy's JSON lines"),
        _format(doccano, "Doccano's JSON lines"),
        _format(label_studio, "Label Studio's JSON"),
        _format(gliner, "GLiNER's JSON"),
        _format(conll, "CoNLL columns, BIO, IOB or IOBES"),
        _format(hf_tokens, "Hugging Face token datasets, JSON lines or Parquet"),
        _format(csv_tables, "CSV, a row a text"),
        replace(_format(parquet, "Parquet, a row a text"), extra=tables.EXTRA),
        replace(_format(docbin, "spaCy's DocBin"), extra=docbin.EXTRA),
        replace(_folder(cas, "UIMA CAS XMI, INCEpTION's export"), extra=cas.EXTRA),
        _read_only(spans, "JSON of a text and annotations by start and end"),
        _corpus(cadec, "CADEC"),
        _corpus(share13, "ShARe 2013", is_credentialed=True),
        _corpus(share14, "ShARe 2014", is_credentialed=True),
        _corpus(fda_labels, "FDA drug labels, XML of TAC 2017"),
    )
}
"""One line a format."""

_ORDER = (
    "inline",
    "brat",
    "conll",
    "bigbio",
    "grid",
    "gliner",
    "label-studio",
    "hf-tokens",
    "prodigy",
    "doccano",
    "spans",
    "jsonl",
    "spacy",
    "cas",
    "csv",
    "parquet",
)
"""From the most particular to the least: inline text is also a `.txt`."""

_OF_ONE_KIND = (
    ("inline", "brat"),
    ("label-studio", "hf-tokens", "prodigy", "doccano", "spans", "jsonl"),
    ("conll", "csv"),
    ("hf-tokens", "parquet"),
)
"""Formats of one kind of file: of those that claim one, the first has it."""

_TABLES = ("csv", "parquet")
"""Tables are often next to a corpus: they claim a folder only when no other format does."""


_LOOKED_INTO = 100
"""Skipped files of one ending that are looked into; the others are taken to be like the last."""


WRITABLE = tuple(name for name, own in FORMATS.items() if own.write is not None)
"""Names of the formats that can be written."""


def known(name: str) -> Format:
    """The format called `name`. Raises InputError listing the formats otherwise."""
    if name not in FORMATS:
        raise InputError(f"unknown format {name!r}; known formats: {', '.join(FORMATS)}")
    return FORMATS[name]


def recognise(path: Path) -> Format:
    """The format of a file or folder. Raises InputError when no format or several claim it."""
    corpus = recognise_corpus(path)
    if corpus is not None:
        return corpus
    if path.is_dir() and next(walk(path, _endings()), None) is None:
        check_files(path, _endings())
        looked_for = ", ".join(sorted(_endings()))
        raise InputError(f"contains no file in a known format: looked for {looked_for}", path=path)
    claims = [name for name in _ORDER if FORMATS[name].recognises(path)]
    claims = [name for name in claims if name not in _TABLES] or claims
    for kind in _OF_ONE_KIND:
        claims = [name for name in claims if name not in [n for n in kind if n in claims][1:]]
    if len(claims) == 1:
        return FORMATS[claims[0]]
    readers = [own for own in FORMATS.values() if has_ending(path.name, own.endings)]
    if not claims and path.is_file() and len(readers) == 1:
        return readers[0]  # it can say what is wrong in the file
    found = f"could be {' or '.join(claims)}" if claims else "is in an unknown format"
    raise InputError(f"{found}; name one with --from: {', '.join(FORMATS)}", path=path)


def recognise_corpus(path: Path) -> Format | None:
    """The corpus whose layout a folder has as unpacked; None when it is no such folder.

    These layouts are more particular than the formats of the files in them. Raises InputError when
    it has several.
    """
    corpora = (known for known in FORMATS.values() if known.read_part is not None)
    claims = [corpus for corpus in corpora if corpus.recognises(path)]
    if len(claims) > 1:
        names = " or ".join(corpus.name for corpus in claims)
        raise InputError(f"could be {names}; name one with --from", path=path)
    return claims[0] if claims else None


def _endings() -> tuple[str, ...]:
    return tuple({ending for known in FORMATS.values() for ending in known.endings})


def part_names(split: str) -> list[str]:
    """What the folder or file may be called that holds a part of a corpus."""
    endings = [
        ending
        for known in FORMATS.values()
        if known.read_part is None
        # Of two files for a document the first has the text.
        for ending in (known.endings[:1] if known.writes_folder else known.endings)
    ]
    return [split, *(split + ending for ending in dict.fromkeys(endings))]


def likely(names: Sequence[str], split: str, chosen: Format | None) -> list[str]:
    """Of a part's folder and files those that the chosen format may read, or that are no tables."""
    tables = tuple(ending for name in _TABLES for ending in FORMATS[name].endings)
    if chosen is None:
        return [name for name in names if not name.endswith(tables)]
    return [name for name in names if name == split or name.endswith(chosen.endings)]


def note_skipped_files(path: Path, chosen: Format, reading: Reading) -> None:
    """Count the files below a folder that the format does not read: hidden ones, those that another
    format could read, which is named, and all others."""

    def note(found: Iterable[Path], why: str) -> None:
        if names := sorted(file.relative_to(path).as_posix() for file in found):
            files = "file" if len(names) == 1 else "files"
            reading.note(f"{len(names)} {why.format(files)}, such as {names[0]}", path=path)

    note(walk(path, chosen.endings, hidden=True), "hidden {} skipped")
    by_ending: dict[str, list[Path]] = defaultdict(list)
    for file in walk(path, ("",)):
        if not has_ending(file.name, chosen.endings):
            by_ending[file.suffix.lower()].append(file)
    by_reader: dict[str | None, list[Path]] = defaultdict(list)
    for files in by_ending.values():
        files.sort()
        readers = [_reader_of(file) for file in files[:_LOOKED_INTO]]
        more = [readers[-1]] * (len(files) - len(readers))
        for file, reader in zip(files, [*readers, *more], strict=True):
            by_reader[reader].append(file)
    unknown = by_reader.pop(None, [])
    for reader, files in by_reader.items():
        note(files, f"{{}} skipped that {chosen.name} does not read, and --from {reader} does")
    note(unknown, "{} skipped, in no known format")


def _reader_of(file: Path) -> str | None:
    """The format that could read a file."""
    return next((name for name in _ORDER if FORMATS[name].recognises(file)), None)
