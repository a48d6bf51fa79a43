"""Finding the folders of a corpus as its users unpack it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

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
    """All folders below, in order, without hidden ones and what archives from a Mac leave."""
    with os.scandir(root) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir())
    for name in names:
        if not name.startswith(".") and name != _LITTER:
            yield root / name
            yield from folders_below(root / name)


def files_in(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    """The files of a folder with one of these endings, in order, hidden ones left out."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.name.endswith(endings) and not path.name.startswith(".") and path.is_file()
    )


def files_below(root: Path, endings: tuple[str, ...]) -> list[Path]:
    """`files_in` for a folder and all folders below it."""
    return [file for folder in (root, *folders_below(root)) for file in files_in(folder, endings)]


def _folded(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.casefold() for part in parts)
