"""A vocabulary: rows of a CSV file, each a code with its name and synonyms."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from trigner.corpora import (
    EncodingError,
    Reading,
    allow_long_cells,
    check_names,
    checked_encoding,
    opened,
)
from trigner.errors import InputError
from trigner.machine import counted
from trigner.mentions import shortened
from trigner.text import marks

COLUMNS = ("code", "name", "synonyms")
BETWEEN_SYNONYMS = "|"
_DELIMITERS = ",;\t"

_POSSESSIVE = re.compile(r"(?<=\w)\s*['’]s\b")
_ACCENTS = re.compile("[\u0300-\u036f]+")
"""Marks that alphabets share. Those of one script, such as vowel signs, make other words."""

# Words that a finding may have more or fewer of.
_LITTLE = """a an the my his her their your our its of in on at to from for with and or by after i
it is are was were be been am have has had having"""
_LEFT_OUT = frozenset(_LITTLE.split())


@dataclass(frozen=True, slots=True)
class Concept:
    """A code, the name that is shown for it, and other terms for it."""

    code: str
    name: str
    synonyms: tuple[str, ...] = ()

    @property
    def terms(self) -> tuple[str, ...]:
        """Name and synonyms."""
        return (self.name, *self.synonyms)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Concepts with codes that differ; `ignored` are the columns of the file that nobody reads."""

    concepts: tuple[Concept, ...]
    ignored: tuple[str, ...] = ()


def normalised(text: str) -> str:
    """Words without case, accents, endings of plurals and little words, in alphabetical order.

    So "pain in the lower legs" and "Lower leg pain" are the same.
    """
    words = _words(text)
    return " ".join(sorted(_singular(w) for w in words if w not in _LEFT_OUT) or sorted(words))


def spellings(text: str) -> tuple[str, str, str]:
    """What texts that are `normalised` to the same may have in common besides, the most first.

    The text itself, its words without case and accents, and all its words as `normalised` has them,
    little ones too: "hepatitis" has more of "Hepatitis" than of "Hepatitis A".
    """
    words = _words(text)
    return text, " ".join(words), " ".join(sorted(map(_singular, words)))


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", _POSSESSIVE.sub("", text.casefold()))
    return _word().findall(unicodedata.normalize("NFC", _ACCENTS.sub("", plain)))


@cache
def _word() -> re.Pattern[str]:
    return re.compile(rf"[\w{marks()}]+")


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def read_vocabulary(path: str | Path, *, otherwise: str | None = None) -> Vocabulary:
    """The vocabulary of a CSV file with the columns `code`, `name` and, if it likes, `synonyms`.

    Its first line names the columns; synonyms have `|` between them. A code may have several rows:
    the first one has the name, the names of the others are synonyms. A file that is not
    UTF-8 may be in the encoding `otherwise`. Raises InputError, with the line, for a file without
    these columns and for a row without code or name.
    """
    path = Path(path)
    with opened(path) as file:  # which may come through a pipe, and so once
        data = file.read()
    try:
        text = Reading().decoded(data, path)
    except EncodingError:
        if otherwise is None:
            raise
        text = Reading(encoding=checked_encoding(otherwise)).decoded(data, path)
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise InputError("is empty", path=path)
    head = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max(_DELIMITERS, key=head.count)
    allow_long_cells()
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        names = next(filter(None, rows), [])  # a line without cells is empty
        columns = [name.strip().casefold() for name in names]
        # What nobody reads may be called as it likes.
        check_names((name for name in columns if name in COLUMNS), path, rows.line_num)
        places = {name: columns.index(name) for name in COLUMNS if name in columns}
        if not {"code", "name"} <= places.keys():
            message = f"needs the columns `code` and `name`, its first line is {shortened(head)}"
            raise InputError(message, path=path, line=rows.line_num)
        terms: dict[str, dict[str, None]] = {}
        for code, *found in _rows(rows, places, len(columns), path):
            terms.setdefault(code, {}).update(dict.fromkeys(found))
    except csv.Error as error:
        raise InputError(f"is not CSV: {error}", path=path, line=rows.line_num) from error
    if not terms:
        raise InputError("has no rows", path=path)
    concepts = tuple(Concept(code, name, tuple(rest)) for code, (name, *rest) in terms.items())
    return Vocabulary(concepts, tuple(name for name in columns if name not in COLUMNS))


def _rows(
    rows: Iterator[list[str]], places: dict[str, int], width: int, path: Path
) -> Iterator[list[str]]:
    """Code, name and synonyms of each row; `rows` is a `csv.reader`, which counts its lines."""
    for row in rows:
        line: int = rows.line_num  # type: ignore[attr-defined]
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != width:
            message = f"has {counted(len(row), 'cell')}, the first line {width}"
            raise InputError(message, path=path, line=line)
        code, name = (row[places[column]].strip() for column in ("code", "name"))
        if not code or not name:
            raise InputError("a row needs a code and a name", path=path, line=line)
        synonyms = row[places["synonyms"]].split(BETWEEN_SYNONYMS) if "synonyms" in places else []
        yield [code, name, *(own for term in synonyms if (own := term.strip()))]
