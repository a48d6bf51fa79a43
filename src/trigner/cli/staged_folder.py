"""A folder whose files are replaced when all of the new ones are complete."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from trigner.errors import InputError
from trigner.machine import explained, named_as, publish


@contextmanager
def staged_folder(folder: Path, old: Collection[Path]) -> Iterator[Path]:
    """Where to write the files that are to replace `old`, which are below `folder`.

    That is a new and hidden folder in it. When the block ends well, each of its files takes its
    place, then those of `old` that were not written again go: at no time is a document missing.
    When anything fails before, `folder` stays as it was. Errors about the new files name their
    places. Raises InputError, TrignerError when a file cannot take its place.
    """
    staging = folder / f".new.{secrets.token_hex(8)}.tmp"
    with explained(folder):
        staging.mkdir()
    try:
        with named_as(folder, staging):
            yield staging
        with explained(folder):
            _replace(old, folder, staging)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _replace(old: Collection[Path], folder: Path, staging: Path) -> None:
    written = sorted(path for path in staging.rglob("*") if not path.is_dir())
    places = [folder / path.relative_to(staging) for path in written]
    above = {parent for place in places for parent in place.parents if parent != folder}
    _check(places, above)
    for path in above.intersection(old):  # files where folders are to be
        path.unlink()
    for path, place in zip(written, places, strict=True):
        place.parent.mkdir(parents=True, exist_ok=True)
        publish(path, place, overwrite=True)
    # Compared as files, not by name: where case does not matter, one file has several.
    new = {_identity(place) for place in places}
    for path in old:
        if path not in above and os.path.lexists(path) and _identity(path) not in new:
            path.unlink()
            _remove_empty(path.parent, folder)


def _check(places: Sequence[Path], above: Collection[Path]) -> None:
    """Raises InputError for what would stop the replacing half way."""
    for place in places:
        if place.is_dir() and not place.is_symlink():
            message = "is a folder, where a file of that name is to be written: remove it"
            raise InputError(message, path=place)
    for path in sorted(above):
        if path.is_dir() and not os.access(path, os.W_OK | os.X_OK):
            raise InputError("cannot be written: no permission for this folder", path=path)


def _identity(path: Path) -> tuple[int, int]:
    status = path.lstat()
    return status.st_dev, status.st_ino


def _remove_empty(path: Path, root: Path) -> None:
    """Remove folders below `root` in which the last file was replaced."""
    with suppress(OSError):  # it holds something
        while path != root:
            path.rmdir()
            path = path.parent
