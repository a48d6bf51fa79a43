"""The formats that corpora come in: one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from trigner.corpora import (
    bigbio,
    brat,
    cadec,
    fda_labels,
    grid,
    inline,
    jsonl,
    share13,
    share14,
)
from trigner.corpora.folders import walk
from trigner.corpora.published import Counts
from trigner.corpora.reading import Reading, WriteReport
from trigner.errors import InputError
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
    (None: the whole corpus). Most write one file; `writes_folder` marks those that do not, and
    `check` passes on the documents that can be written there.
    `is_credentialed`: its users have signed not to give it on.
    """

    name: str
    description: str
    endings: tuple[str, ...]
    recognises: Recognises
    read: Read
    write: Write | None = None
    writes_folder: bool = False
    check: Check | None = None
    read_part: ReadPart | None = None
    published: Mapping[str | None, Counts] = field(default_factory=dict)
    is_credentialed: bool = False


class _ReadCorpus(Protocol):
    def __call__(
        self, path: Path, reading: Reading, split: str | None = None
    ) -> Iterator[Document]: ...


def _corpus(
    name: str,
    description: str,
    endings: tuple[str, ...],
    recognises: Recognises,
    read: _ReadCorpus,
    published: Mapping[str | None, Counts],
    *,
    is_credentialed: bool = False,
) -> Format:
    """A corpus as its users unpack it: read only, whole or by part."""
    return Format(
        name,
        f"{description}, as unpacked",
        endings,
        recognises,
        read,
        read_part=read,
        published=published,
        is_credentialed=is_credentialed,
    )


FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        Format(
            "brat",
            "brat standoff, .txt with .ann",
            brat.ENDINGS,
            brat.recognises,
            brat.read,
            brat.write,
            writes_folder=True,
            check=brat.checked,
        ),
        Format("grid", "W2NER's grid JSON", grid.ENDINGS, grid.recognises, grid.read, grid.write),
        Format(
            "inline",
            "Dai's inline text",
            inline.ENDINGS,
            inline.recognises,
            inline.read,
            inline.write,
        ),
        Format(
            "bigbio", "BigBio KB JSON", bigbio.ENDINGS, bigbio.recognises, bigbio.read, bigbio.write
        ),
        Format(
            "jsonl", "JSON lines, ours", jsonl.ENDINGS, jsonl.recognises, jsonl.read, jsonl.write
        ),
        _corpus(cadec.NAME, "CADEC", cadec.ENDINGS, cadec.recognises, cadec.read, cadec.PUBLISHED),
        _corpus(
            share13.NAME,
            "ShARe 2013",
            share13.ENDINGS,
            share13.recognises,
            share13.read,
            share13.PUBLISHED,
            is_credentialed=True,
        ),
        _corpus(
            share14.NAME,
            "ShARe 2014",
            share14.ENDINGS,
            share14.recognises,
            share14.read,
            share14.PUBLISHED,
            is_credentialed=True,
        ),
        _corpus(
            fda_labels.NAME,
            "FDA drug labels, XML of TAC 2017",
            fda_labels.ENDINGS,
            fda_labels.recognises,
            fda_labels.read,
            fda_labels.PUBLISHED,
        ),
    )
}
"""One line a format."""

_ORDER = ("inline", "brat", "bigbio", "grid", "jsonl")
"""From the most particular to the least: inline text is also a `.txt`."""


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
    if path.is_dir() and next(walk(path, tuple(_endings())), None) is None:
        looked_for = ", ".join(sorted(_endings()))
        raise InputError(f"contains no file in a known format: looked for {looked_for}", path=path)
    claims = [name for name in _ORDER if FORMATS[name].recognises(path)]
    if claims[:2] == ["inline", "brat"]:
        claims.remove("brat")
    if len(claims) == 1:
        return FORMATS[claims[0]]
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


def _endings() -> set[str]:
    return {ending for known in FORMATS.values() for ending in known.endings}


def note_skipped_files(path: Path, chosen: Format, reading: Reading) -> None:
    """Count the files below a folder that the format does not read: hidden ones and others'."""
    others = tuple(_endings() - {*chosen.endings})
    for found, why in (
        (walk(path, chosen.endings, hidden=True), "hidden files skipped"),
        (walk(path, others), f"files skipped that are not in the format {chosen.name}"),
    ):
        if names := sorted(file.relative_to(path).as_posix() for file in found):
            reading.note(f"{len(names)} {why}, such as {names[0]}", path=path)
