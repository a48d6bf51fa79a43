"""What `extract` reads: texts, files and standard input, one document at a time.

Files are read twice. The first time checks them, counts their documents and keeps nothing but ids;
the second time each document is there as long as it is worked on. So files are checked
before the work, and memory does not grow with their number. Standard input comes once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import chain, islice
from pathlib import Path
from typing import Protocol

from trigner.cli.options import print_notices
from trigner.cli.output import note, progress
from trigner.corpora import (
    FORMATS,
    NOT_XML,
    Reading,
    Source,
    decoded_lines,
    files_in,
    read_lines,
    source,
    walk,
    without_ending,
)
from trigner.errors import InputError, TrignerError
from trigner.machine import counted
from trigner.mentions import Document

STANDARD_INPUT = Path("standard input")

_READ = {ending for known in FORMATS.values() for ending in known.endings}
_NOT_READ = {".gz", ".htm", ".html", ".pdf", ".doc", ".docx"}
_ENDING = "|".join(map(re.escape, sorted(_READ | _NOT_READ)))
# Meant as a path, whatever there is: from a root or here on, a folder, or a file of a known ending.
_IS_PATH = re.compile(rf"([~/]|\.\.?[/\\])\S*|\S*[/\\]|\S+(?i:{_ENDING})")
ALIKE = 0.8
"""How much of a name has to be that of a file for it to be meant (difflib's ratio)."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Documents to be read once, whose ids differ.

    `total` and `fingerprint`, a hash of what is extracted from, are None when only reading shows
    them.
    """

    parts: tuple[InputPart, ...]
    total: int | None
    title: str
    fingerprint: str | None = None

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
    reading: Reading | None = None,
    lines: bool = False,
    check: Callable[[Iterable[Document]], Iterable[Document]] = iter,
) -> Inputs:
    """The documents that arguments name, files checked; `lines` is for standard input.

    `reading` says how they are read; what is noted is printed.

    What is known before the work goes through `check`, as documents with nothing of their texts
    but the characters that XML cannot hold, each once. Raises InputError for arguments that are
    neither text nor file, for untrusted files and for duplicate ids; files of one name in several
    folders get ids by their paths.
    """
    if list(arguments).count("-") > 1:
        raise InputError("can be read only once", path=STANDARD_INPUT)
    if lines and "-" not in arguments:
        raise InputError("--lines is for standard input: give it as -")
    how = Reading() if reading is None else reading
    parts = tuple(
        _part(argument, number, format=format, reading=how, lines=lines)
        for number, argument in enumerate(arguments, 1)
    )
    if format is not None and all(isinstance(part, Text) for part in parts):
        raise InputError("--from is the format of files: a text has none")
    known = ((number, d) for number, part in enumerate(parts) for d in part.known())
    known = progress(known, total=None, what="reading")
    # Ids stay in memory, and a hash in place of what entities are found in.
    seen = [(number, d.id, _not_xml(d.text), _hash(d)) for number, d in known]
    if len({id for _, id, _, _ in seen}) < len(seen):
        parts = _apart(parts)
    total, title, digest = 0, "", hashlib.sha256()
    named = ((_id(parts[number], id), rest, own) for number, id, rest, own in seen)
    for document in check(_different(_without_text(named, digest.update))):
        total, title = total + 1, document.id
    if any(isinstance(part, Stream) for part in parts):
        return Inputs(parts, None, str(STANDARD_INPUT))
    title = title if total == 1 else counted(total, "document")
    return Inputs(parts, total, title, digest.hexdigest())


class InputPart(Protocol):
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
    reading: Reading
    prefix: str = ""
    """Before ids, where those of several folders are alike."""

    def known(self) -> Iterator[Document]:
        """The documents; their notices are printed here."""
        reading = replace(self.reading, notices=[])
        count = 0
        for document in _replaced(self.source.documents(reading), self.source.path):
            count += 1
            yield document
        print_notices(self.source.path, reading.notices)
        if not count:
            raise InputError("contains no documents", path=self.source.path)

    def read(self) -> Iterator[Document]:
        """The documents. A folder is searched now: what is written into it later is not read."""
        documents = self.source.documents(replace(self.reading, notices=[]))
        first = list(islice(documents, 1)) if self.source.path.is_dir() else []
        return (replace(d, id=self.prefix + d.id) for d in chain(first, documents))


@dataclass(frozen=True, slots=True)
class Stream:
    """Standard input line by line: texts, or documents as JSON."""

    texts: bool
    reading: Reading

    def known(self) -> Iterator[Document]:
        """Nothing: it can be read only once."""
        return iter(())

    def read(self) -> Iterator[Document]:
        """A document for each line, called stdin-1, stdin-2 ... where JSON has no id."""
        reading = replace(self.reading, notices=[])
        if self.texts:
            for number, line in decoded_lines(sys.stdin.buffer, STANDARD_INPUT, reading):
                yield Document(f"stdin-{number}", line.removesuffix("\r"))
            print_notices(STANDARD_INPUT, reading.notices)
            return
        found = read_lines(sys.stdin.buffer, "stdin", reading, path=STANDARD_INPUT)
        yield from _replaced(found, STANDARD_INPUT)
        print_notices(STANDARD_INPUT, reading.notices)


def _part(
    argument: str, number: int, *, format: str | None, reading: Reading, lines: bool
) -> InputPart:
    if argument == "-":
        if lines or format == "jsonl":
            return Stream(texts=lines, reading=reading)
        if format is not None:
            message = f"is read as one text, with --lines or with --from jsonl, not with {format}"
            raise InputError(f"{message}: write it to a file", path=STANDARD_INPUT)
        return Text(Document("stdin", _standard_input(reading)))
    if is_file_or_folder(argument, number):
        return Files(source(argument, format=format), reading)
    return Text(Document(f"text-{number}", argument))


def refuse_input(out: Path, arguments: Sequence[str], *, format: str | None = None) -> None:
    """Raises InputError when an output would take the place of what `inputs` reads.

    A new output in a folder that is read is none of that: it is not there when it is read.
    """
    if not out.exists():
        return
    place = Path(os.path.realpath(out))
    for argument in arguments:
        if argument == "-" or not _exists(argument):
            continue
        given = source(argument, format=format)
        for path, what in ((given.path, "the input"), *((f, "input") for f in _read_of(given))):
            real = Path(os.path.realpath(path))
            if place == real or place in real.parents:
                verb = "is" if place == real else "contains"
                raise InputError(f"{verb} {what}: choose another --out", path=out)


def _read_of(given: Source) -> Iterator[Path]:
    """The files that are read; of a text and its annotations each stands for both."""
    path, endings = given.path, given.format.endings
    if path.is_dir():
        yield from walk(path, endings)
    elif given.format.writes_folder:
        name = without_ending(path.name, endings)
        yield from (
            file
            for file in files_in(path.parent, endings)
            if without_ending(file.name, endings) == name
        )


def is_file_or_folder(argument: str, number: int = 1) -> bool:
    """Whether an argument of the command line is the path of one, and no text.

    Raises InputError for one that is meant as a path and leads nowhere, and for text that is not
    UTF-8, which is called by its number.
    """
    if _exists(argument):
        return True
    if os.path.islink(argument):
        raise InputError("is a link that leads nowhere", path=argument)
    alike = _alike(argument)
    if alike or _IS_PATH.fullmatch(argument):
        hint = f"; did you mean {alike}?" if alike else ""
        raise InputError(f"no such file or folder{hint}", path=argument)
    if not _is_unicode(argument):
        raise InputError("is not UTF-8", path=f"argument {number}")
    return False


def _replaced(documents: Iterable[Document], path: Path) -> Iterator[Document]:
    """The documents; at their end, what they came with and what is found takes the place of."""
    entities = extras = 0
    for document in documents:
        entities += len(document.entities)
        extras += len(document.extras)
        yield document
    if entities or extras:
        kinds = ((entities, "entity", "entities"), (extras, "extra", "extras"))
        given = " and ".join(counted(number, *names) for number, *names in kinds if number)
        verb = "is" if entities + extras == 1 else "are"
        lost = f"{given} of the input {verb} not written: the output contains predictions only"
        note([f"{path}: {lost}"])


def _different(documents: Iterable[Document]) -> Iterator[Document]:
    seen: set[str] = set()
    for document in documents:
        if document.id in seen:
            raise InputError(f"duplicate document id {document.id!r} in the inputs")
        seen.add(document.id)
        yield document


def _hash(document: Document) -> bytes:
    """Of what entities are found in."""
    return hashlib.sha256(json.dumps([document.text, document.words]).encode()).digest()


def _apart(parts: Iterable[InputPart]) -> tuple[InputPart, ...]:
    """The parts, files with their folders before ids: from the one on that all of them are in."""
    folders = [
        os.path.abspath(path if path.is_dir() else path.parent)
        for path in (part.source.path for part in parts if isinstance(part, Files))
    ]
    remaining = iter(folders)

    def named(part: InputPart) -> InputPart:
        if not isinstance(part, Files):
            return part
        below = Path(next(remaining)).relative_to(os.path.commonpath(folders)).as_posix()
        return replace(part, prefix="" if below == "." else f"{below}/")

    return tuple(map(named, parts))


def _id(part: InputPart, id: str) -> str:
    return part.prefix + id if isinstance(part, Files) else id


def _not_xml(text: str) -> str:
    return "".join(dict.fromkeys(NOT_XML.findall(text)))


def _without_text(
    named: Iterable[tuple[str, str, bytes]], seen: Callable[[bytes], object]
) -> Iterator[Document]:
    """Ids and what is left of texts as documents; `seen` gets ids and the hashes next to them."""
    for id, rest, own in named:
        seen(json.dumps(id).encode() + own)
        yield Document(id, rest)


def _exists(argument: str) -> bool:
    # Path("") would be the current folder.
    try:
        return argument != "" and Path(argument).exists()
    except (OSError, ValueError):  # not a valid file name: too long, or with a null character
        return False


def _alike(argument: str) -> Path | None:
    """What exists and is called nearly like this, when it is one word, with its ending or without.

    The first part that does not exist is compared with what is next to it.
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


def _standard_input(reading: Reading) -> str:
    own = replace(reading, notices=[])
    text = own.decoded(sys.stdin.buffer.read(), STANDARD_INPUT)
    print_notices(STANDARD_INPUT, own.notices)
    return text
