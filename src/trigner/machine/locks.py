"""One process at a time: a lock that ends with the process that holds it, however it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from trigner.errors import TrignerError
from trigner.machine.atomic_files import own_file


class LockedError(TrignerError):
    """Another process holds the lock."""


@contextmanager
def locked(path: Path, *, remove: bool = False, busy: TrignerError | None = None) -> Iterator[None]:
    """Hold the lock that the file `path` stands for.

    The file stays behind, empty, unless it is to be removed: for locks that are tried once, as
    a process that opened the file before would hold another than the one that comes after.

    Raises LockedError, or in its place `busy`, at once when another process holds it, TrignerError
    when there can be no such file, InputError for a link.
    """
    lock = FileLock(path, timeout=0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Not every version of filelock refuses a link, and what it locks it empties; and a file
        # that cannot be made is to it one that is locked.
        with open(path, "ab", opener=own_file):
            pass
        lock.acquire()
    except Timeout as error:
        raise busy or LockedError(f"{path} is locked by another process") from error
    except OSError as error:
        raise TrignerError(f"cannot lock {path}: {error.strerror}") from error
    try:
        yield
    finally:
        if remove:
            path.unlink(missing_ok=True)
        lock.release()
