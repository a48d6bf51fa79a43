"""Compressed files -> their bytes: where one is damaged, first all that stands before that."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, Any

import pyarrow as pa

from trigner.pipeline.bulk.failures import READ_ERRORS, is_damage
from trigner.pipeline.bulk.sources import File

_PIECE = 1 << 16
"""Bytes that are unpacked at a time, and that pyarrow reads of a compressed file at a time."""


class Unpacked(io.RawIOBase):
    """The bytes of a compressed file, opened as `raw`."""

    def __init__(self, file: File, raw: IO[bytes]) -> None:
        super().__init__()
        self._pieces = _pieces(file, raw)
        self._piece = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        if not self._piece:
            self._piece = memoryview(next(self._pieces, b""))
        taken = self._piece[: len(into)]
        into[: len(taken)] = taken
        self._piece = self._piece[len(taken) :]
        return len(taken)


def _pieces(file: File, raw: IO[bytes]) -> Iterator[bytes]:
    given = 0
    stream = _stream(file, raw)
    try:
        while piece := stream.read(_PIECE):
            given += len(piece)
            yield piece
    except READ_ERRORS as error:
        if is_damage(error) and (rest := _before_damage(file, given, raw.tell())):
            yield rest
        raise


def _before_damage(file: File, given: int, end: int) -> bytes:
    """What stands behind the bytes `given` and before damage that was met in reading to `end`.

    pyarrow drops what it has unpacked of a piece in which it meets damage. Given one byte at a
    time, and asked for one at a time, it has nothing to drop.
    """
    found = bytearray()
    try:
        with file.open() as raw:
            stream = _stream(file, _InSmallSteps(raw, end))
            while given and (again := stream.read(min(given, _PIECE))):
                given -= len(again)
            while byte := stream.read(1):
                found += byte
    except READ_ERRORS:
        pass  # the damage again
    return bytes(found)


class _InSmallSteps(io.RawIOBase):
    """A file that gives one byte at a time from its last piece before `end` on."""

    def __init__(self, raw: IO[bytes], end: int) -> None:
        super().__init__()
        self._raw, self._end = raw, end

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._raw.read(size if 0 <= size < self._end - self._raw.tell() else 1)


def _stream(file: File, raw: Any) -> Any:
    return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), file.compression)
