"""JSON files of documents or sentences, whole or one value a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trigner.corpora.reading import read_text
from trigner.errors import InputError


def values(path: Path) -> Iterator[tuple[int, Any]]:
    """The items of a JSON list, or the values of JSON lines, each with the line it starts on.

    The line of an item in a list is not known to the parser; it is 0 there. Raises InputError with
    the line of what is not JSON.
    """
    text = read_text(path)
    if text.lstrip().startswith("["):
        try:
            items = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"is not JSON: {error.msg}", path=path, line=error.lineno) from error
        yield from ((0, item) for item in items)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as error:
                raise InputError(f"is not JSON: {error.msg}", path=path, line=number) from error


def peek(path: Path, size: int = 65_536) -> str:
    """The beginning of a file, to recognise its format by; bytes that are not UTF-8 are replaced."""
    with path.open("rb") as file:
        return file.read(size).decode("utf-8", errors="replace")


def files(path: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """The file itself, or all files with these endings below a folder, in order."""
    if path.is_file():
        return [path]
    return sorted(p for p in path.rglob("*") if p.is_file() and p.suffix in suffixes)


def place(item: int, line: int) -> str:
    """How a message names an item: its number, where no line is known."""
    return "" if line else f"item {item}: "
