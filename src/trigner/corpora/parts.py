"""Parts of a corpus (train, dev, test) by lists of what belongs to each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from trigner.corpora.reading import Reading, read_text
from trigner.errors import InputError
from trigner.machine import counted

PARTS = ("train", "dev", "test")

_ENDINGS = (".txt", ".id", ".list")
_SHIPPED = "splits"
_NAMES_SHOWN = 5


class NoPartError(InputError):
    """A corpus does not come with the part that was asked for."""


@dataclass(frozen=True, slots=True)
class Lists:
    """Which documents belong to which part.

    `parts` maps a part to its names and the line each stands on; `files` maps it to its list.
    """

    parts: Mapping[str, Mapping[str, int]]
    files: Mapping[str, Path]

    def of(self, name: str) -> str | None:
        """The part that a document belongs to, None when no list has it."""
        return next((part for part, names in self.parts.items() if name in names), None)


def lists_beside(root: Path) -> Lists | None:
    """The lists in a folder `splits` in `root` or next to it; None when there is no such folder.

    A list is `train.txt`, `dev.txt` or `test.txt` (`.id` and `.list` do as well), one document id
    a line; `id.txt` is taken for `id`. Raises InputError when the folder has no list, when a part
    has two, and when a name occurs twice.
    """
    for folder in (root / "splits", root.parent / "splits"):
        if folder.is_dir():
            return _read_lists(folder)
    return None


@cache
def shipped_lists(corpus: str) -> Lists:
    """The lists that come with the package."""
    folder = files("trigner.corpora").joinpath(_SHIPPED, corpus)
    names: dict[str, dict[str, int]] = {}
    for part in PARTS:
        lines = folder.joinpath(f"{part}.txt").read_text("utf-8").splitlines()
        names[part] = {line: number for number, line in enumerate(lines, 1)}
    return Lists(names, {part: Path(f"{_SHIPPED}/{corpus}/{part}.txt") for part in PARTS})


@cache
def shipped_pairs(corpus: str, file: str) -> Mapping[str, str]:
    """A table of two columns that comes with the package: second column -> first."""
    text = files("trigner.corpora").joinpath(_SHIPPED, corpus, file).read_text("utf-8")
    pairs = (line.split("\t") for line in text.splitlines())
    return {second: first for first, second in pairs}


def known_part(split: str, *, path: Path) -> str:
    """The part's name. Raises InputError for anything but train, dev and test."""
    if split not in PARTS:
        raise InputError(f"has no part {split!r}: known are {', '.join(PARTS)}", path=path)
    return split


def check(lists: Lists, names: Collection[str], reading: Reading, *, root: Path) -> None:
    """Compare the lists with the corpus's document ids.

    Raises InputError, with list and line, for a listed id that no document has. Documents in no
    list are counted and noted.
    """
    for part, listed in lists.parts.items():
        for name, line in listed.items():
            if name not in names:
                raise InputError(
                    f"no document has the id {name!r}", path=lists.files[part], line=line
                )
    _note_unlisted(lists, names, reading, root)


def check_present(
    lists: Lists, part: str, names: Collection[str], reading: Reading, *, root: Path
) -> None:
    """As `check`, for shipped lists, where a user may have a part of the corpus only.

    Raises InputError when nothing of the part is there; missing documents are counted and noted.
    """
    listed = lists.parts[part]
    missing = [name for name in listed if name not in names]
    if len(missing) == len(listed):
        raise InputError(
            f"has none of {counted(len(listed), 'document')} of the part {part!r}:"
            f" {_some(missing)}",
            path=root,
        )
    if missing:
        reading.note(
            f"{len(missing)} of {counted(len(listed), 'document')} of the part {part!r} missing:"
            f" {_some(missing)}",
            path=root,
        )
    _note_unlisted(lists, names, reading, root)


def _read_lists(folder: Path) -> Lists:
    parts: dict[str, dict[str, int]] = {}
    found_files: dict[str, Path] = {}
    taken: dict[str, Path] = {}
    for part in PARTS:
        found = [folder / f"{part}{end}" for end in _ENDINGS if (folder / f"{part}{end}").is_file()]
        if len(found) > 1:
            raise InputError(f"has two lists for the part {part!r}", path=folder)
        for path in found:
            parts[part], found_files[part] = {}, path
            for number, line in enumerate(read_text(path).splitlines(), 1):
                name = line.strip().removesuffix(".txt")
                if not name:
                    continue
                if name in taken:
                    raise InputError(
                        f"{name!r} is already listed in {taken[name].name}", path=path, line=number
                    )
                taken[name] = path
                parts[part][name] = number
    if not parts:
        names = ", ".join(f"{part}.txt" for part in PARTS)
        raise InputError(f"has no list: looked for {names}", path=folder)
    return Lists(parts, found_files)


def _note_unlisted(lists: Lists, names: Collection[str], reading: Reading, root: Path) -> None:
    if without := sorted(name for name in names if lists.of(name) is None):
        reading.note(f"{counted(len(without), 'document')} in no list: {_some(without)}", path=root)


def _some(names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:_NAMES_SHOWN])
    return f"{shown} ..." if len(names) > _NAMES_SHOWN else shown
