"""What `extract` reads: texts, files and standard input, one document at a time.

Files are read twice. The first time checks them, counts their documents and keeps nothing but ids;
the second time each document is there as long as it is worked on. So files are checked
before the work, and memory does not grow with their number. Standard input comes once.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain, islice
from pathlib import Path
from typing import Protocol

from trigner.cli.options import print_notices
from trigner.cli.output import progress
from trigner.corpora import Reading, Source, read_lines, source
from trigner.corpora.reading import decoded_lines
from trigner.errors import InputError, TrignerError
from trigner.mentions import Document

STANDARD_INPUT = Path("standard input")

# Meant as a path, whatever there is: from a root or here on, a folder, or a file of a known ending.
IS_PATH = re.compile(
    r"([~/]|\.\.?[/\\])\S*|\S*[/\\]|\S+\.(txt|ann|jsonl?|gz|csv|tsv|xml|html?|pdf|docx?|conll|parquet)"
)
ALIKE = 0.8
"""How much of a name has to be that of a file for it to be meant (difflib's ratio)."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Documents to be read once, whose ids differ; `total` is None when only reading shows it."""

    parts: tuple[Part, ...]
    total: int | None
    title: str

    def __iter__(self) -> Iterator[Document]:
        """The documents.

        Raises InputError for an id that occurs twice, TrignerError when files have changed.
        """
        count = 0
        for document in _different(chain.from_iterable([part.read() for part in self.parts])):
            count += 1
            yield document
        if self.total is not None and count != self.total:
            raise TrignerError(
                f"files changed while being read: {self.total} documents at first, {count} later"
            )


def inputs(
    arguments: Sequence[str],
    *,
    format: str | None = None,
    skip_bad: bool = False,
    lines: bool = False,
    check: Callable[[Iterable[Document]], Iterable[Document]] = iter,
) -> Inputs:
    """The documents that arguments name, files checked; `lines` is for standard input.

    What is known before the work goes through `check`, as documents without text. Raises InputError
    for arguments that are neither text nor file, for untrusted files and for duplicate ids.
    """
    parts = tuple(
        _part(argument, number, format=format, skip_bad=skip_bad, lines=lines)
        for number, argument in enumerate(arguments, 1)
    )
    streams = sum(isinstance(part, Stream) for part in parts)
    if streams > 1:
        raise InputError("can be read only once", path=STANDARD_INPUT)
    known = progress(
        (document for part in parts for document in part.known()), total=None, what="reading"
    )
    total, title = 0, ""
    for document in check(Document(document.id, "") for document in _different(known)):
        total, title = total + 1, document.id
    if streams:
        return Inputs(parts, None, str(STANDARD_INPUT))
    return Inputs(parts, total, title if total == 1 else f"{total} documents")


class Part(Protocol):
    """What one argument names."""

    def known(self) -> Iterator[Document]:
        """Its documents as far as they can be looked at before the work, which checks them."""

    def read(self) -> Iterator[Document]:
        """All its documents."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text of the command line, or all of standard input."""

    document: Document

    def known(self) -> Iterator[Document]:
        """The document."""
        yield self.document

    def read(self) -> Iterator[Document]:
        """The document."""
        yield self.document


@dataclass(frozen=True, slots=True)
class Files:
    """A file or folder."""

    source: Source
    skip_bad: bool

    def known(self) -> Iterator[Document]:
        """The documents; their notices are printed here."""
        reading = Reading(skip_bad=self.skip_bad)
        count = 0
        for document in self.source.documents(reading):
            count += 1
            yield document
        print_notices(self.source.path, reading.notices)
        if not count:
            raise InputError("contains no documents", path=self.source.path)

    def read(self) -> Iterator[Document]:
        """The documents. A folder is searched now: what is written into it later is not read."""
        documents = self.source.documents(Reading(skip_bad=self.skip_bad))
        if not self.source.path.is_dir():
            return documents
        return chain(list(islice(documents, 1)), documents)


@dataclass(frozen=True, slots=True)
class Stream:
    """Standard input line by line: texts, or documents as JSON."""

    texts: bool
    skip_bad: bool

    def known(self) -> Iterator[Document]:
        """Nothing: it can be read only once."""
        return iter(())

    def read(self) -> Iterator[Document]:
        """A document for each line, called stdin-1, stdin-2 ... where JSON has no id."""
        if self.texts:
            for number, line in decoded_lines(sys.stdin.buffer, STANDARD_INPUT):
                yield Document(f"stdin-{number}", line.removesuffix("\r"))
            return
        reading = Reading(skip_bad=self.skip_bad)
        yield from read_lines(sys.stdin.buffer, "stdin", reading, path=STANDARD_INPUT)
        print_notices(STANDARD_INPUT, reading.notices)


def _part(argument: str, number: int, *, format: str | None, skip_bad: bool, lines: bool) -> Part:
    if argument == "-":
        if lines or format == "jsonl":
            return Stream(texts=lines, skip_bad=skip_bad)
        return Text(Document("stdin", _standard_input()))
    if _exists(argument):
        return Files(source(argument, format=format), skip_bad)
    alike = _alike(argument)
    if alike or IS_PATH.fullmatch(argument):
        hint = f"; did you mean {alike}?" if alike else ""
        raise InputError(f"no such file or folder{hint}", path=argument)
    if not _is_unicode(argument):
        raise InputError("is not UTF-8", path=f"argument {number}")
    return Text(Document(f"text-{number}", argument))


def _different(documents: Iterable[Document]) -> Iterator[Document]:
    seen: set[str] = set()
    for document in documents:
        if document.id in seen:
            raise InputError(f"duplicate document id {document.id!r} in the inputs")
        seen.add(document.id)
        yield document


def _exists(argument: str) -> bool:
    # Path("") would be the current folder.
    try:
        return argument != "" and Path(argument).exists()
    except (OSError, ValueError):  # not a valid file name: too long, or with a null character
        return False


def _alike(argument: str) -> Path | None:
    """What exists and is called nearly like this, when it is one word, with its ending or without.

    The first part that does not exist is compared with what stands beside it.
    """
    if not argument or any(character.isspace() or character == "\0" for character in argument):
        return None
    folder = Path()
    for part in Path(argument).parts:
        if not _exists(str(folder / part)):
            break
        folder /= part
    else:
        return None
    try:
        there = {name: path for path in folder.iterdir() for name in (path.stem, path.name)}
    except OSError:
        return None
    found = get_close_matches(part, there, n=1, cutoff=ALIKE)
    return there[found[0]] if found else None


def _is_unicode(argument: str) -> bool:
    # Python keeps bytes of the command line that are not UTF-8 as lone surrogates.
    return not any("\ud800" <= character <= "\udfff" for character in argument)


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8", path=STANDARD_INPUT) from error
