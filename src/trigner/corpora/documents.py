"""JSON files of documents or sentences, whole or one value a line, and ids across files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trigner.corpora.encodings import UTF_8, marked_encoding
from trigner.corpora.folders import walk
from trigner.corpora.reading import Reading, decoded_lines, opened
from trigner.corpora.strict_json import DECODER, FLAWS
from trigner.errors import InputError
from trigner.machine import atomic_write, flaw_of
from trigner.mentions import Document, shortened

_BLANKS = re.compile(r"[ \t\r\n]*")
_FIRST_OF_SEVERAL = re.compile(r"\{([^\n]*[,:{\[])?[ \t\r]*\n")
"""The first line of an object that goes on behind it, as no JSON line does."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

ReadFile = Callable[[Path, str, Reading], Iterable[tuple[int, Document]]]
Values = Callable[[Path, Reading], Iterator[tuple[int, Any]]]
"""What gives the values of a file, each with its line."""


def values(path: Path, reading: Reading) -> Iterator[tuple[int, Any]]:
    """The items of a JSON list, or the values of JSON lines, each with the line it starts on.

    Lines are read as they are asked for; a list's text, and that of objects over several lines, is
    read whole. Raises InputError, with the line, for what is not JSON or cannot be text, and for an
    empty file.
    """
    start = peek(path).lstrip()
    is_list = start.startswith("[")
    if not is_list and not _FIRST_OF_SEVERAL.match(start):
        with opened(path) as file:
            yield from values_of_lines(file, path, reading)
        return
    text = reading.text(path).removeprefix("\ufeff")
    suspicious = _SURROGATE.search(text) is not None
    for line, value in _items(text, path) if is_list else _one_by_one(text, path):
        if suspicious:
            _check_characters(value, path, line)
        yield line, value


def values_of_lines(
    lines: Iterable[bytes], path: Path, reading: Reading
) -> Iterator[tuple[int, Any]]:
    """The values of JSON lines, each with its line; `path` is what errors call their source.

    Raises InputError as `values` does.
    """
    found, noted = False, len(reading.notices)
    for number, line in decoded_lines(lines, path, reading):
        text = line.removeprefix("\ufeff") if number == 1 else line
        if text.strip():
            found = True
            value, end = _decoded(text, _skip(text, 0), path, number)
            if _skip(text, end) < len(text):
                raise InputError("is not JSON: more than one value", path=path, line=number)
            if _SURROGATE.search(text) is not None:
                _check_characters(value, path, number)
            yield number, value
    if not found and len(reading.notices) == noted:  # no line was left out
        raise InputError("is empty", path=path)


def _items(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    """Items of a list one by one: the parser gives no positions of what is inside a list."""
    at = _skip(text, _skip(text, 0) + 1)
    line = 1 + text.count("\n", 0, at)
    close = at if text.startswith("]", at) else None
    while close is None:
        value, end = _decoded(text, at, path, line)
        yield line, value
        after = _skip(text, end)
        line += text.count("\n", at, after)
        if text.startswith("]", after):
            close = after
        elif text.startswith(",", after):
            at = _skip(text, after + 1)
            line += text.count("\n", after, at)
        else:
            raise InputError("is not JSON: expected `,` or `]`", path=path, line=line)
    if _skip(text, close + 1) < len(text):
        raise InputError("is not JSON: text after the end of the list", path=path, line=line)


def _one_by_one(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    """Values with nothing but blanks and line ends between and in them."""
    at = _skip(text, 0)
    line = 1 + text.count("\n", 0, at)
    while at < len(text):
        value, end = _decoded(text, at, path, line)
        yield line, value
        after = _skip(text, end)
        line += text.count("\n", at, after)
        at = after


def _decoded(text: str, at: int, path: Path, line: int) -> tuple[Any, int]:
    """The value that starts at `at`, on line `line`, and where it ends."""
    try:
        return DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        line += text.count("\n", at, error.pos)
        raise InputError(f"is not JSON: {error.msg}", path=path, line=line) from error
    except RecursionError as error:
        raise InputError("is nested too deeply to be read", path=path, line=line) from error
    except FLAWS as error:
        raise InputError(str(error), path=path, line=line) from error
    except ValueError as error:
        raise InputError("has a number with too many digits", path=path, line=line) from error


def _skip(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return at if match is None else match.end()


def _check_characters(value: Any, path: Path, line: int) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(error.object[error.start])
        raise InputError(f"U+{code:04X} is a lone surrogate", path=path, line=line) from error


def peek(path: Path, size: int = 65_536) -> str:
    """The beginning of a file, to recognise its format by.

    It is in the encoding of the mark that it begins with, else UTF-8; other bytes are replaced.
    """
    with path.open("rb") as file:
        start = file.read(size)
    return start.decode(marked_encoding(start) or UTF_8, errors="replace").removeprefix("\ufeff")


def all_begin(path: Path, suffixes: tuple[str, ...], fits: Callable[[str], bool]) -> bool:
    """Whether `fits` holds for the beginning of `files`, which all have these endings or none."""
    found = files(path, suffixes)
    return bool(found) and all(
        file.suffix.lower() in ("", *suffixes) and fits(peek(file)) for file in found
    )


def all_end(path: Path, suffixes: tuple[str, ...]) -> bool:
    """Whether there are `files`, and all have one of these endings."""
    found = files(path, suffixes)
    return bool(found) and all(file.suffix.lower() in suffixes for file in found)


def has_key(start: str, key: str) -> bool:
    """Whether the beginning of a JSON file has an object with this key.

    A string that holds the same characters does not count: its quotes are escaped.
    """
    return re.search(rf'"{key}"\s*:', start) is not None


def files(path: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """The file itself, or all files with these endings below a folder but hidden ones, in order."""
    if path.is_file():
        return [path]
    return sorted(walk(path, suffixes))


def place(item: int, line: int) -> str:
    """How a message names an item besides its line: its number, where that is not the line's."""
    return "" if line == item else f"item {item}: "


def read_files(
    path: Path, suffixes: tuple[str, ...], reading: Reading, read_file: ReadFile
) -> Iterator[Document]:
    """The documents of a file, or of all such files below a folder, with ids that are unique.

    `read_file(file, name, reading)` gives a file's documents, each with its line; `name` is the
    file's path below the folder, to make ids of: without ending, unless only that differs. Only
    when an id occurs in several files do all ids get the name of their file before them; several
    files are read twice for that, as documents are not kept. Raises InputError, with the line, for
    an id that occurs twice in a file, and for a folder without such a file.
    """
    found = files(path, suffixes)
    if not found:
        raise InputError(f"contains no {' or '.join(suffixes)} file", path=path)
    names = {file: name_below(file, path) for file in found}
    uses = Counter(names.values())
    names = {file: name + file.suffix * (uses[name] > 1) for file, name in names.items()}

    def read(file: Path, reading: Reading) -> Iterator[Document]:
        seen: set[str] = set()
        # What comes before a bad byte has been given out by then only where lines are documents,
        # and there the line alone is left out.
        with reading.file(file):
            for line, document in read_file(file, names[file], reading):
                if document.id in seen:
                    message = f"duplicate document id {shortened(document.id)}"
                    raise InputError(message, path=file, line=line)
                seen.add(document.id)
                yield document

    shared = False
    if len(found) > 1:
        # Notices are taken when the documents are read below, not when ids are counted.
        counting = replace(reading, notices=[])
        ids = Counter(document.id for file in found for document in read(file, counting))
        shared = any(count > 1 for count in ids.values())
    for file in found:
        for document in read(file, reading):
            yield replace(document, id=f"{names[file]}/{document.id}") if shared else document


@dataclass(frozen=True, slots=True)
class Item:
    """A value of a file that stands for one document, and where it stands.

    `name` is made of file and number, for a document without an id of its own.
    """

    value: Any
    name: str
    path: Path
    line: int
    where: str
    reading: Reading

    def id(self, given: object) -> str:
        """The document's id, `name` if None is given. Raises ValueError for what cannot be one."""
        id = self.name if given is None else given
        if type(id) not in (str, int) or id == "":
            raise ValueError(f"expected a string as `id`, found {shortened(id)}")
        return str(id)

    def annotation(self) -> AbstractContextManager[None]:
        """Around the reading of one annotation: a ValueError means that it is bad."""
        return self.reading.annotation(path=self.path, line=self.line, where=self.where)

    def note(self, message: str) -> None:
        """Something worth knowing about it."""
        self.reading.note(f"{self.where}{message}", path=self.path, line=self.line)


def read_items(
    path: Path,
    suffixes: tuple[str, ...],
    reading: Reading,
    take: Callable[[Item], Document | None],
    items: Values = values,
) -> Iterator[Document]:
    """`read_files` where each of a file's values is a document.

    `take` makes it, or gives None for what it has left out; a ValueError of it ends the reading.
    """

    def read_file(file: Path, name: str, reading: Reading) -> Iterator[tuple[int, Document]]:
        for number, (line, value) in enumerate(items(file, reading), 1):
            item = Item(value, f"{name}-{number}", file, line, place(number, line), reading)
            try:
                document = take(item)
            except ValueError as error:
                raise InputError(f"{item.where}{error}", path=file, line=line) from error
            if document is not None:
                yield line, document

    return read_files(path, suffixes, reading, read_file)


def write_list(items: Iterable[str], path: Path) -> None:
    """A JSON list of values that are JSON already, one a line, written as they come."""
    with atomic_write(path, keep=True) as put:
        before = "[\n"
        for item in items:
            put(before + item)
            before = ",\n"
        put("\n]\n" if before == ",\n" else "[]\n")


def name_below(file: Path, root: Path) -> str:
    """A file's path below `root` without its ending; its stem when it is `root` itself.

    Raises InputError for one that is not UTF-8, which no output could name.
    """
    relative = Path(file.name) if file == root else file.relative_to(root)
    name = relative.as_posix().removesuffix(file.suffix)
    if flaw_of(name):
        raise InputError("has a name that is not UTF-8; rename it", path=file)
    return name
