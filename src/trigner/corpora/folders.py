"""Finding the folders of a corpus as its users unpack it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from trigner.errors import InputError
from trigner.machine import check_readable

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
    """Files below a folder with one of these endings, in any order.

    Those that are hidden or in a hidden folder, or all others: for these links to folders are
    followed, but no folder is searched twice.
    """
    return (path for path in _named(root, endings, hidden=hidden) if path.is_file())


def _named(root: Path, endings: tuple[str, ...], *, hidden: bool) -> Iterator[Path]:
    found = _hidden(root) if hidden else _shown(root, root.resolve(), set())
    return (path for path in found if has_ending(path.name, endings))


def _hidden(root: Path) -> Iterator[Path]:
    for path in root.rglob("*"):
        if any(map(is_hidden, path.relative_to(root).parts)):
            yield path


def _shown(folder: Path, root: Path, searched: set[Path]) -> Iterator[Path]:
    """What is below a folder and not hidden. `root` is the real one that was asked for.

    Raises InputError for a folder that may not be read: its files would be missing.
    """
    searched.add(folder.resolve())
    try:
        with os.scandir(folder) as found:
            shown = [entry for entry in found if not is_hidden(entry.name)]
    except PermissionError as error:
        raise InputError("cannot be read: no permission for this folder", path=folder) from error
    for entry in sorted(shown, key=lambda entry: entry.name):
        path = folder / entry.name
        yield path
        if not _is_folder(entry) or (entry.is_symlink() and _is_found_without(path, root)):
            continue
        if path.resolve() not in searched:
            yield from _shown(path, root, searched)


def _is_found_without(link: Path, root: Path) -> bool:
    """Whether a link leads to a folder that is searched in any case, or to one around them all."""
    target = link.resolve()
    if not target.is_relative_to(root):
        return root.is_relative_to(target)
    return not any(map(is_hidden, target.relative_to(root).parts))


def check_files(root: Path, endings: tuple[str, ...]) -> None:
    """Raises InputError for what has one of these endings below a folder as `check_file`.

    To be asked before such a folder is read: `walk` passes over it, and with it over what it gives.
    """
    for path in _named(root, endings, hidden=False):
        check_file(path)


def check_file(path: Path) -> None:
    """Raises InputError for a FIFO or the like, and for a link that leads nowhere.

    Such links are what git-annex and DVC leave of data that was not fetched.
    """
    check_readable(path)
    if path.is_symlink() and not path.exists():
        message = f"is a link to {os.readlink(path)}, and nothing is there"
        advice = "fetch the data that it stands for (git annex get, dvc pull), or remove it"
        raise InputError(f"{message}: {advice}", path=path)


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
