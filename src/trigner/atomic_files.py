"""Files that are replaced whole or not at all, one or several at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from trigner.errors import InputError, TrignerError


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all. Raises as `atomic_write` does."""
    with atomic_write(path) as write:
        write(text)


@contextmanager
def atomic_write(path: Path, *, keep: bool = False) -> Iterator[Callable[[str | bytes], None]]:
    """Write a file piece by piece: it gets its name when it is complete, never before.

    When something fails, what was written is removed, or with `keep` stays at `partial_of(path)`
    unless it is empty. Raises TrignerError when the file system fails, InputError for text that
    cannot be encoded as UTF-8.
    """
    partial = partial_of(path)
    size = 0

    def write(content: str | bytes) -> None:
        nonlocal size
        with _explained(path):
            size += file.write(content.encode("utf-8") if isinstance(content, str) else content)

    with _explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = partial.open("wb")
    try:
        try:
            yield write
        finally:
            with _explained(path):
                file.close()
        with _explained(path):
            os.replace(partial, path)
    except BaseException:
        if not (keep and size):
            with suppress(OSError):
                partial.unlink(missing_ok=True)
        raise


def partial_of(path: Path) -> Path:
    """Where a file is while it is being written."""
    return path.with_name(path.name + ".partial")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeEncodeError as error:
        raise InputError(f"cannot be encoded as UTF-8: {error.reason}", path=path) from error
    except OSError as error:
        raise TrignerError(f"cannot write {path}: {error.strerror}") from error


def replace_together(writers: Mapping[Path, Callable[[Path], object]]) -> None:
    """Replace all of these files by new ones, or on any failure none.

    The last file stands for the whole: it goes first and comes last, so that what a crash in
    between leaves behind is refused, not mistaken for a model.
    """
    new = {path: partial_of(path) for path in writers}
    old = {path: path.with_name(path.name + ".previous") for path in writers}
    moves: list[tuple[Path, Path]] = []

    def move(source: Path, target: Path) -> None:
        os.replace(source, target)
        moves.append((source, target))

    try:
        for path, write in writers.items():
            write(new[path])
        for path in reversed(list(writers)):
            if path.exists():
                move(path, old[path])
        for path in writers:
            move(new[path], path)
    except BaseException:
        for source, target in reversed(moves):
            os.replace(target, source)
        raise
    finally:
        for path in new.values():
            path.unlink(missing_ok=True)
    for path in old.values():
        path.unlink(missing_ok=True)
