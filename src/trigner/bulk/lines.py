"""Files of lines, compressed or not, one line at a time."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from typing import IO, Any

import pyarrow as pa

from trigner.bulk.sources import File

_BUFFER = 1 << 20


class Lines:
    """The lines of a file that are not blank, as bytes; how much of the file they took."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._raw = file.open()
        stream: Any = pa.PythonFile(self._raw, mode="r")
        if file.compression is not None:
            stream = pa.CompressedInputStream(stream, file.compression)
        self._stream: IO[bytes] = io.BufferedReader(stream, _BUFFER)

    @property
    def share(self) -> float:
        """How much of the file was taken, from 0 to 1."""
        return min(1.0, self._raw.tell() / self._file.size) if self._file.size else 1.0

    def __iter__(self) -> Iterator[bytes]:
        for number, line in enumerate(self._stream):
            if number == 0:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if line.strip():
                yield line

    def records(self) -> Iterator[list[str]]:
        """The cells of its records, as CSV; bytes that are not UTF-8 become halves of characters.

        Raises ValueError, when it comes to the record that has it, for a quotation mark that is
        open at the end, as all that follows is in its cell, and for text behind one that closes,
        as that would make one cell of what stands up to the next mark, lines later.
        """
        csv.field_size_limit(sys.maxsize)
        text = io.TextIOWrapper(
            self._stream, encoding="utf-8-sig", errors="surrogateescape", newline=""
        )
        is_at_end = False

        def watched() -> Iterator[str]:
            nonlocal is_at_end
            yield from text
            is_at_end = True

        records = csv.reader(watched(), strict=True)
        while True:
            try:
                cells = next(records, None)
            except csv.Error as error:
                if is_at_end:  # a record is given with its last line, unless the reader wants more
                    raise ValueError(
                        'a quotation mark (") that opens there is never closed'
                    ) from error
                raise ValueError(
                    'a quotation mark (") inside a cell that has them around it must be doubled'
                    f" ({error})"
                ) from error
            if cells is None:
                return
            if cells:
                yield cells

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self._raw.close()
