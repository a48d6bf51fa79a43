"""Where finished runs are kept: in a small file each, or packed into one table a corpus.

    RESULTS/CORPUS/NAME.json     one run, written whole and never touched again
    RESULTS/CORPUS.jsonl.xz      packed runs: the same lines, by name

A file holds what a line of a table does: `{"run":{...}}` with the name, settings and scores of a
run, or `{"run":{...},"found":{...}}` with what its models found in the test part. Both forms are
read alike, and settings are data: no class of today looks at them.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trigner.errors import InputError, TrignerError
from trigner.machine import atomic_write, remove_leftovers, write_new_text

FILE = ".json"
TABLE = ".jsonl.xz"

DAMAGE = (
    *(OSError, EOFError, lzma.LZMAError, ValueError, TypeError),
    *(LookupError, AttributeError, RecursionError, OverflowError),
)
"""What reading a damaged file ends with."""

_SMALLEST_WINDOW, _LARGEST_WINDOW = 4096, 64 * 2**20
_RUN, _FOUND = '{"run":', ',"found":'


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run as it is kept: its name, its values, its line of JSON and where that stands (`line`
    counts from 1, None in a file of its own)."""

    name: str
    run: Mapping[str, Any]
    text: str
    found: str | None
    """What its models found, as JSON that nobody has parsed: most of the line, and seldom asked
    for. None: it was not kept."""
    path: Path
    line: int | None = None

    @property
    def where(self) -> str:
        return f"{self.path}" if self.line is None else f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Packed:
    """A table that was written: its path, the runs in it and how many of them were in files."""

    path: Path
    runs: int
    added: int


def corpora_with_runs(folder: Path) -> list[str]:
    """The corpora that have runs, by name."""
    in_files = {path.parent.name for path in folder.glob(f"*/*{FILE}")}
    return sorted(in_files | {path.name.removesuffix(TABLE) for path in folder.glob(f"*{TABLE}")})


def keep_run(folder: Path, corpus: str, run: Mapping[str, Any], found: str | None) -> Path:
    """Write a run, which has a `name`, to a file of its own, whole or not at all.

    Raises TrignerError where another run of that name is kept: no run is ever replaced.
    """
    path = folder / corpus / f"{run['name']}{FILE}"
    written = json.dumps(run, separators=(",", ":"))
    remove_leftovers(path)
    write_new_text(path, f"{_RUN}{written}{'' if found is None else _FOUND + found}}}\n")
    return path


def kept_runs(folder: Path, corpus: str) -> list[KeptRun]:
    """All runs on a corpus by name, from files and table.

    Raises InputError that names the file, and the line of a table, for what is damaged, and both
    places of two runs of one name that differ. A damaged run is no reason to train again in
    silence.
    """
    found: dict[str, KeptRun] = {}
    for kept in (*_packed(folder / f"{corpus}{TABLE}"), *_in_files(folder / corpus)):
        other = found.setdefault(kept.name, kept)
        if other.text != kept.text:
            message = f"is not the run of the same name in {other.where}: move one of the two away"
            raise InputError(message, path=kept.path, line=kept.line)
    return [found[name] for name in sorted(found)]


def pack_runs(folder: Path, corpus: str) -> Packed:
    """Move the runs on a corpus from their files into its table.

    The files go when the table was read again and holds the same runs. Equal runs make equal bytes
    with one version of liblzma. Raises as `kept_runs` does.
    """
    table = folder / f"{corpus}{TABLE}"
    files = [kept.path for kept in _in_files(folder / corpus)]
    texts = [kept.text for kept in kept_runs(folder, corpus)]
    if files:
        data = "".join(texts).encode()
        packed = _compressed(data)
        if lzma.decompress(packed) != data:
            raise TrignerError(f"{table}: the runs cannot be packed; nothing was changed")
        with atomic_write(table) as write:
            write(packed)
        if [kept.text for kept in _packed(table)] != texts:
            raise TrignerError(f"{table} does not hold what was packed: no file was removed")
        for path in files:
            path.unlink()
        if not any((folder / corpus).iterdir()):
            (folder / corpus).rmdir()
    return Packed(table, len(texts), len(files))


def _compressed(data: bytes) -> bytes:
    # Runs are alike, megabytes apart: a window over all of them halves the table. One that is
    # larger than the data would only take memory.
    window = min(max(len(data), _SMALLEST_WINDOW), _LARGEST_WINDOW)
    return lzma.compress(
        data, filters=[{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": window}]
    )


def _packed(table: Path) -> Iterator[KeptRun]:
    number = 1
    try:
        if table.exists():
            with lzma.open(table, "rt", encoding="utf-8") as lines:
                for text in lines:
                    yield _parsed(text, table, number)
                    number += 1
    except DAMAGE as error:
        raise InputError(f"is damaged: {error}", path=table, line=number) from error


def _in_files(folder: Path) -> Iterator[KeptRun]:
    for path in sorted(folder.glob(f"*{FILE}")):
        try:
            kept = _parsed(path.read_text(encoding="utf-8"), path)
            if kept.name != path.stem:
                raise ValueError(f"it holds the run {kept.name!r}")
        except DAMAGE as error:
            message = f"is damaged: {error}; move it away, and the run is repeated"
            raise InputError(message, path=path) from error
        yield kept


def _parsed(text: str, path: Path, line: int | None = None) -> KeptRun:
    """A run from its line, which ends with a line feed."""
    if not (text.startswith(_RUN) and text.endswith("}\n")):
        raise ValueError("it is not a run on one line")
    run, end = json.JSONDecoder().raw_decode(text, len(_RUN))
    if not isinstance(run["name"], str):
        raise ValueError("its name is no text")
    rest = text[end:-2]
    if rest and not rest.startswith(_FOUND):
        raise ValueError("it is not a run and what its models found")
    found = rest.removeprefix(_FOUND) if rest else None
    return KeptRun(run["name"], run, text, found, path, line)
