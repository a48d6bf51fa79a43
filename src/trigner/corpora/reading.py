"""What every reader shares: decoding text, and what happens to invalid annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from trigner.errors import InputError


@dataclass(frozen=True, slots=True)
class Notice:
    """What a reader noted about one line or file of its input."""

    path: Path
    line: int | None
    message: str
    left_out: bool = False
    """Whether an annotation is missing from the documents for it."""

    def __str__(self) -> str:
        where = f"{self.path}" if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.message}"


@dataclass(slots=True)
class Reading:
    """How to read, and what was noted on the way.

    With `skip_bad` an invalid annotation is skipped and noted; without, it ends the reading.
    """

    skip_bad: bool = False
    notices: list[Notice] = field(default_factory=list)

    def bad(self, message: str, *, path: Path, line: int | None = None) -> None:
        """Skip and note an invalid annotation. Raises InputError unless `skip_bad`."""
        if not self.skip_bad:
            raise InputError(message, path=path, line=line)
        self.notices.append(Notice(path, line, f"left out: {message}", left_out=True))

    @contextmanager
    def annotation(self, *, path: Path, line: int | None = None, where: str = "") -> Iterator[None]:
        """Around the reading of one annotation: a ValueError means that it is `bad`."""
        try:
            yield
        except ValueError as error:
            self.bad(f"{where}{error}", path=path, line=line)

    def note(self, message: str, *, path: Path, line: int | None = None) -> None:
        """Something worth knowing by which nothing is lost."""
        self.notices.append(Notice(path, line, message))


@dataclass(frozen=True, slots=True)
class WriteReport:
    """How many files were written, and what the format could not hold: kind -> count."""

    files: int
    dropped: dict[str, int] = field(default_factory=dict)

    def notices(self) -> list[str]:
        """A sentence for each kind of loss."""
        return [
            f"{n} {kind} not written: the format cannot hold them"
            for kind, n in self.dropped.items()
            if n
        ]


def read_text(path: Path) -> str:
    """A file's characters exactly, line ends included.

    Raises InputError when it cannot be read or is not UTF-8, naming the line of the first bad byte.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"byte {error.start} is not UTF-8", path=path, line=line) from error


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file to be read in pieces. Raises InputError when it cannot be opened."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    with file:
        yield file


def decoded_lines(lines: Iterable[bytes], path: Path) -> Iterator[tuple[int, str]]:
    """Lines that end in `\\n`, without it, and their numbers; `path` is what errors call them.

    Raises InputError for a line that is not UTF-8.
    """
    before = 0
    for number, line in enumerate(lines, 1):
        try:
            yield number, line.removesuffix(b"\n").decode("utf-8")
        except UnicodeDecodeError as error:
            at = before + error.start
            raise InputError(f"byte {at} is not UTF-8", path=path, line=number) from error
        before += len(line)
