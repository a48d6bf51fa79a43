"""The formats that corpora come in: one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trigner.corpora import bigbio, brat, grid, inline, jsonl
from trigner.corpora.reading import Reading, WriteReport
from trigner.errors import InputError
from trigner.mentions import Document

Recognises = Callable[[Path], bool]
Read = Callable[[Path, Reading], Iterator[Document]]
Write = Callable[[Sequence[Document], Path], WriteReport]


@dataclass(frozen=True, slots=True)
class Format:
    """How a format is recognised, read and written (None: it is only read)."""

    name: str
    description: str
    recognises: Recognises
    read: Read
    write: Write | None = None


FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        Format("brat", "brat standoff, .txt with .ann", brat.recognises, brat.read, brat.write),
        Format("grid", "W2NER's grid JSON", grid.recognises, grid.read, grid.write),
        Format("inline", "Dai's inline text", inline.recognises, inline.read, inline.write),
        Format("bigbio", "BigBio KB JSON", bigbio.recognises, bigbio.read, bigbio.write),
        Format("jsonl", "JSON lines, ours", jsonl.recognises, jsonl.read, jsonl.write),
    )
}
"""One line a format."""

_ORDER = ("inline", "brat", "bigbio", "grid", "jsonl")
"""From the most particular to the least: inline text is also a `.txt`."""


def known(name: str) -> Format:
    """The format called `name`. Raises InputError listing the formats otherwise."""
    if name not in FORMATS:
        raise InputError(f"unknown format {name!r}; known are: {', '.join(FORMATS)}")
    return FORMATS[name]


def recognise(path: Path) -> Format:
    """The format of a file or folder. Raises InputError when no format or several claim it."""
    claims = [name for name in _ORDER if FORMATS[name].recognises(path)]
    if claims[:2] == ["inline", "brat"]:
        claims.remove("brat")
    if len(claims) == 1:
        return FORMATS[claims[0]]
    found = f"could be {' or '.join(claims)}" if claims else "is in no format that is recognised"
    raise InputError(f"{found}; name one with --from: {', '.join(FORMATS)}", path=path)
