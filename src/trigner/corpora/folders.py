"""Finding the folders of a corpus as its users unpack it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from trigner.atomic_files import check_readable
from trigner.errors import InputError

_LITTER = "__MACOSX"


def find_folder(root: Path, names: Sequence[str]) -> Path | None:
    """The folder at or below `root` whose path ends with one of `names`; None when there is none.

    The first name that fits counts, whatever its case. Raises InputError when it fits several
    folders that hold files.
    """
    below = [root, *folders_below(root)]
    for name in names:
        tail = _folded(PurePosixPath(name).parts)
        found = [
            folder
            for folder in below
            if _folded(folder.absolute().parts)[-len(tail) :] == tail and files_in(folder, ("",))
        ]
        if len(found) > 1:
            which = " and ".join(str(folder.relative_to(root)) for folder in found)
            raise InputError(f"more than one folder could be {name}: {which}", path=root)
        if found:
            return found[0]
    return None


def folders_below(root: Path) -> Iterator[Path]:
    """All folders below, in order, without hidden ones and what archives from a Mac leave.

    Links to folders are followed, but not to one that the link is in: that would never end.
    """
    return _below(root, root.resolve(), frozenset())


def _below(root: Path, real: Path, above: frozenset[Path]) -> Iterator[Path]:
    above |= {real}
    with os.scandir(root) as entries:
        names = sorted(entry.name for entry in entries if _is_folder(entry))
    for name in names:
        target = (root / name).resolve()
        around = target in above or real.is_relative_to(target)
        if not is_hidden(name) and not around:
            yield root / name
            yield from _below(root / name, target, above)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def files_in(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    """The files of a folder with one of these endings, in order, hidden ones left out."""
    return sorted(
        path
        for path in folder.iterdir()
        if has_ending(path.name, endings) and not is_hidden(path.name) and path.is_file()
    )


def files_below(root: Path, endings: tuple[str, ...]) -> list[Path]:
    """`files_in` for a folder and all folders below it."""
    return [file for folder in (root, *folders_below(root)) for file in files_in(folder, endings)]


def walk(root: Path, endings: tuple[str, ...], *, hidden: bool = False) -> Iterator[Path]:
    """Files below a folder with one of these endings, in any order, links to folders not followed.

    Those that are hidden or in a hidden folder, or all others.
    """
    return (path for path in _named(root, endings, hidden=hidden) if path.is_file())


def _named(root: Path, endings: tuple[str, ...], *, hidden: bool) -> Iterator[Path]:
    for path in root.rglob("*"):
        kept = any(map(is_hidden, path.relative_to(root).parts)) is hidden
        if kept and has_ending(path.name, endings):
            yield path


def check_files(root: Path, endings: tuple[str, ...]) -> None:
    """Raises InputError for what has one of these endings below a folder and is a FIFO or the like.

    To be asked before such a folder is read: `walk` passes over it, and with it over what it gives.
    """
    for path in _named(root, endings, hidden=False):
        check_readable(path)


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name is nobody's document: copies and lists of programs."""
    return name.startswith(".") or name == _LITTER


def has_ending(name: str, endings: tuple[str, ...]) -> bool:
    """Whether a name ends in one of these (in small letters), whatever its own case."""
    return name.lower().endswith(endings)


def without_ending(name: str, endings: tuple[str, ...]) -> str:
    """The name without the first of these endings that it has, whatever its case."""
    found = next((ending for ending in endings if has_ending(name, (ending,))), "")
    return name[: len(name) - len(found)]


def _folded(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.casefold() for part in parts)
