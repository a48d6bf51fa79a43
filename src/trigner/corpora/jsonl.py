"""Our own format: one document a line, entities with character fragments, labels and scores.

    {"id": "post-1", "text": "...", "entities": [{"label": "ADR", "fragments": [[0, 4], [18, 26]],
     "text": "Pain my hands", "score": 0.93, "id": "T1"}], "words": [[0, 4], ...]}

`score`, `id`, `words` (ranges of given words) and `extras` are there when they have a value. What
else a line or an entity has are its own fields, and is written back; a field that looks like
annotations is refused, as nobody would read them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from trigner.corpora.documents import all_begin, has_key, place, read_files, values, values_of_lines
from trigner.corpora.json_shapes import refuse_annotations
from trigner.corpora.reading import Reading, WriteReport
from trigner.errors import InputError
from trigner.machine import atomic_write
from trigner.mentions import Document, Entity

NAME = "jsonl"

ENDINGS: tuple[str, ...] = (".jsonl",)


def recognises(path: Path) -> bool:
    """`.jsonl` files whose first value has a `text`."""
    return all_begin(path, ENDINGS, _is_ours)


def _is_ours(start: str) -> bool:
    if not start.strip():
        return True
    return start.lstrip()[0] == "{" and has_key(start, "text") and not has_key(start, "passages")


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """The documents of a file, or of all `.jsonl` below a folder."""

    def read_file(file: Path, name: str, reading: Reading) -> Iterator[tuple[int, Document]]:
        return _documents(values(file, reading), name, reading, file)

    return read_files(path, ENDINGS, reading, read_file)


def read_lines(
    lines: Iterable[bytes], name: str, reading: Reading, *, path: Path
) -> Iterator[Document]:
    """The documents of lines as they come, those without an id called after `name`.

    `path` is what errors call where they come from. Raises InputError as `read` does, but does not
    look for ids that occur twice.
    """
    for _, document in _documents(values_of_lines(lines, path, reading), name, reading, path):
        yield document


def _documents(
    found: Iterable[tuple[int, Any]], name: str, reading: Reading, path: Path
) -> Iterator[tuple[int, Document]]:
    for number, (line, item) in enumerate(found, 1):
        where = place(number, line)

        def skip(message: str, line: int = line, where: str = where) -> None:
            reading.bad(where + message, path=path, line=line)

        named = {"id": f"{name}-{number}", **item} if isinstance(item, dict) else item
        try:
            document = Document.from_dict(named, skip=skip)
            refuse_annotations(document.fields, document.text)
        except ValueError as error:
            raise InputError(f"{where}{error}", path=path, line=line) from error
        yield line, document


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file; nothing is lost."""
    with atomic_write(path, keep=True) as put:
        for document in documents:
            put(as_json_line(document) + "\n")
    return WriteReport(1)


class LineWriter:
    """Writes documents as lines of JSON whose entities come little by little.

    `put` takes text. What it was given is at all times the beginning of what `as_json_line` gives
    for all the documents, a line end behind each.
    """

    def __init__(self, put: Callable[[str], object]) -> None:
        self._put = put
        self._rest: str | None = None
        self._between = ""

    def add(self, document: Document, entities: Iterable[Entity], *, is_last: bool) -> None:
        """The next entities of a document, which itself has none; after the last, its end."""
        if self._rest is None:
            before, self._rest = _around_entities(document)
            self._put(before)
            self._between = ""
        for entity in entities:
            self._put(self._between + json.dumps(entity.to_dict(), ensure_ascii=False))
            self._between = ", "
        if is_last:
            self._put(self._rest + "\n")
            self._rest = None


def _around_entities(document: Document) -> tuple[str, str]:
    """What stands before and behind the entities in a document's line."""
    value = document.to_dict()
    names = list(value)
    at = names.index("entities")
    before = {name: value[name] for name in names[:at]} | {"entities": []}
    rest = json.dumps({name: value[name] for name in names[at + 1 :]}, ensure_ascii=False)
    behind = "]}" if rest == "{}" else "], " + rest[1:]
    return json.dumps(before, ensure_ascii=False).removesuffix("]}"), behind


def as_json_line(document: Document) -> str:
    """A document as one line of JSON."""
    return json.dumps(document.to_dict(), ensure_ascii=False)
