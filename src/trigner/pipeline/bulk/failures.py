"""Files that cannot be read: what their errors are about, and how they are told."""

from __future__ import annotations

import csv
import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeGuard

import pyarrow as pa

from trigner.errors import InputError, first_line
from trigner.pipeline.bulk.sources import File, InputFiles

READ_ERRORS = (OSError, EOFError, ValueError, pa.ArrowException, csv.Error)

_OF_THE_MACHINE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Errors that the next file would have, too: too many open files, no memory."""


class UnreadableError(InputError):
    """Rows of a source cannot be read: so many, or None when nobody knows how many."""

    def __init__(
        self, reason: str, *, path: str | Path | None, where: str = "", missing: int | None = None
    ) -> None:
        super().__init__(f"cannot be read{where}: {reason}", path=path)
        self.missing = missing


@contextmanager
def errors_named(source: InputFiles) -> Iterator[None]:
    """What goes wrong while a source is read, as an InputError that names it."""
    try:
        yield
    except READ_ERRORS as error:
        raise UnreadableError(reason(error), path=source.name) from error


def is_damage(error: BaseException) -> bool:
    """Whether an error is about the content of a file, not about the way to it."""
    if isinstance(error, OSError):
        return type(error) is OSError and error.errno is None  # as pyarrow raises it
    return isinstance(error, (EOFError, pa.ArrowInvalid))


def reason(error: BaseException) -> str:
    """Why something cannot be read, as messages say it."""
    why = first_line(error)
    return f"the file is damaged: {why}" if is_damage(error) else why


def is_of_one_file(error: Exception, file: File) -> TypeGuard[OSError]:
    """Whether the others of a folder may well be read: behind a URL that is not known."""
    if isinstance(error, FileNotFoundError):
        return True
    return isinstance(error, OSError) and file.is_local and error.errno not in _OF_THE_MACHINE
