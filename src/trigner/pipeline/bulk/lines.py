"""Files of lines, compressed or not, one line at a time."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from functools import partial
from typing import IO, Any

import pyarrow as pa

from trigner.pipeline.bulk.sources import File
from trigner.pipeline.bulk.texts import MOST_CHARACTERS
from trigner.pipeline.bulk.unpacking import Unpacked

BOM = b"\xef\xbb\xbf"

_BUFFER = 1 << 20

_LINE = 12
"""Bytes of a line for each character of a text: as many as JSON may escape one with."""

_RECORD = 4
"""Characters of a record of CSV for each of a text: the csv module takes 5 bytes for each."""


class Lines:
    """The lines of a file that are not blank, as bytes; how much of the file they took.

    What is held of a file is bounded by the characters that a text may have, or by the usual
    number of them: other columns may be longer.
    """

    def __init__(self, file: File, most_characters: int = MOST_CHARACTERS) -> None:
        most = max(most_characters, MOST_CHARACTERS)
        self.longest = min(_LINE * most, sys.maxsize - 1)
        """Bytes that a line may have, its end included."""
        self._longest_record = min(_RECORD * most, sys.maxsize - 1)
        self._file = file
        self._raw = file.open()
        plain: Any = pa.PythonFile(self._raw, mode="r")
        stream = plain if file.compression is None else Unpacked(file, self._raw)
        self._stream: IO[bytes] = io.BufferedReader(stream, _BUFFER)

    @property
    def share(self) -> float:
        """How much of the file was taken, from 0 to 1."""
        return min(1.0, self._raw.tell() / self._file.size) if self._file.size else 1.0

    def __iter__(self) -> Iterator[bytes]:
        """The lines; of one with more than `longest` bytes, that many and one more."""
        read = partial(self._stream.readline, self.longest + 1)
        for number, line in enumerate(iter(read, b"")):
            rest = line
            while len(rest) > self.longest and not rest.endswith(b"\n"):
                rest = read()
            if number == 0:
                line = line.removeprefix(BOM)
            if line.strip():
                yield line

    def records(self) -> Iterator[list[str]]:
        """The cells of its records, as CSV; bytes that are not UTF-8 become halves of characters.

        Raises ValueError, when it comes to the record that has it, for a quotation mark that is
        open at the end, as all that follows is in its cell, and for text behind one that closes,
        as that would make one cell of what stands up to the next mark, lines later; also for a
        record with more characters than can be meant.
        """
        longest = self._longest_record
        # The module's own bound is one for all threads, so it is only raised, and counted here.
        csv.field_size_limit(max(csv.field_size_limit(), longest))
        text = io.TextIOWrapper(
            self._stream, encoding="utf-8-sig", errors="surrogateescape", newline=""
        )
        size = 0
        is_at_end = False

        def watched() -> Iterator[str]:
            nonlocal size, is_at_end
            while line := text.readline(longest + 1):
                size += len(line)
                if size > longest:
                    raise ValueError(
                        f"the row there has more than {longest:,} characters: a quotation mark"
                        ' (") that opens in it may never be closed'
                    )
                yield line
            is_at_end = True

        records = csv.reader(watched(), strict=True)
        while True:
            try:
                cells = next(records, None)
            except csv.Error as error:
                if is_at_end:  # a record is given with its last line, unless the reader wants more
                    why = 'a quotation mark (") that opens there is never closed'
                else:
                    why = (
                        'a quotation mark (") inside a cell that has them around it must be doubled'
                        f" ({error})"
                    )
                raise ValueError(why) from error
            if cells is None:
                return
            size = 0
            if cells:
                yield cells

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self._raw.close()
