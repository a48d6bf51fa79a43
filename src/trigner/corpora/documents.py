"""JSON files of documents or sentences, whole or one value a line, and ids across files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from trigner.corpora.folders import walk
from trigner.corpora.reading import read_text
from trigner.errors import InputError
from trigner.mentions import Document

_BLANKS = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class ShapeError(Exception):
    """A JSON value that is not what its format has in that place; readers add file and line."""


def values(path: Path) -> Iterator[tuple[int, Any]]:
    """The items of a JSON list, or the values of JSON lines, each with the line it starts on.

    Raises InputError, with the line, for what is not JSON or cannot be text, and for an empty file.
    """
    text = read_text(path).removeprefix("\ufeff")
    if not text.strip():
        raise InputError("is empty", path=path)
    found = _items(text, path) if text.lstrip().startswith("[") else _lines(text, path)
    suspicious = _SURROGATE.search(text) is not None
    for line, value in found:
        if suspicious:
            _check_characters(value, path, line)
        yield line, value


def _lines(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            value, end = _decoded(line, _skip(line, 0), path, number)
            if _skip(line, end) < len(line):
                raise InputError("is not JSON: more than one value", path=path, line=number)
            yield number, value


def _items(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    """Items of a list one by one: the parser tells no positions of what is inside a list."""
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
        raise InputError("is not JSON: more follows the list", path=path, line=line)


def _decoded(text: str, at: int, path: Path, line: int) -> tuple[Any, int]:
    """The value that starts at `at`, on line `line`, and where it ends."""
    try:
        return json.JSONDecoder().raw_decode(text, at)
    except json.JSONDecodeError as error:
        line += text.count("\n", at, error.pos)
        raise InputError(f"is not JSON: {error.msg}", path=path, line=line) from error
    except RecursionError as error:
        raise InputError("is not JSON to read: nested too deeply", path=path, line=line) from error
    except ValueError as error:
        raise InputError("has a number of too many digits", path=path, line=line) from error


def _skip(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return at if match is None else match.end()


def _check_characters(value: Any, path: Path, line: int) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(error.object[error.start])
        raise InputError(f"U+{code:04X} is half a character", path=path, line=line) from error


def peek(path: Path, size: int = 65_536) -> str:
    """The beginning of a file, to recognise its format by; what is no UTF-8 is replaced."""
    with path.open("rb") as file:
        return file.read(size).decode("utf-8", errors="replace").removeprefix("\ufeff")


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
    """How a message names an item beside its line: its number, where that is not the line's."""
    return "" if line == item else f"item {item}: "


def read_files(
    path: Path,
    suffixes: tuple[str, ...],
    read_file: Callable[[Path, str], Iterable[tuple[int, Document]]],
) -> Iterator[Document]:
    """The documents of a file, or of all such files below a folder, with ids that are unique.

    `read_file(file, name)` gives a file's documents, each with its line; `name` is the file's path
    below the folder without ending, to make ids of. Only when an id occurs in several files do all
    ids get the name of their file before them. Raises InputError, with the line, for an id that
    occurs twice in a file, and for a folder without such a file.
    """
    found = files(path, suffixes)
    if not found:
        raise InputError(f"holds no {' or '.join(suffixes)} file", path=path)
    by_file: dict[Path, list[Document]] = {}
    names = {file: name_below(file, path) for file in found}
    for file in found:
        seen: set[str] = set()
        for line, document in read_file(file, names[file]):
            if document.id in seen:
                message = f"two documents have the id {document.id!r}"
                raise InputError(message, path=file, line=line)
            seen.add(document.id)
            by_file.setdefault(file, []).append(document)
    ids = Counter(document.id for documents in by_file.values() for document in documents)
    shared = any(count > 1 for count in ids.values())
    for file, documents in by_file.items():
        for document in documents:
            yield replace(document, id=f"{names[file]}/{document.id}") if shared else document


def name_below(file: Path, root: Path) -> str:
    """A file's path below `root` without its ending; its stem when it is `root` itself."""
    relative = Path(file.name) if file == root else file.relative_to(root)
    return relative.as_posix().removesuffix(file.suffix)
