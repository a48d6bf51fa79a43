"""What every reader shares: decoding text, and what happens to invalid annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, get_args

from trigner.corpora.encodings import ADVICE, AUTO, UTF_8, EncodingError, decoded, is_utf_8, not_in
from trigner.errors import InputError
from trigner.machine import check_readable, counted

MissingAnnotations = Literal["error", "empty"]


@dataclass(frozen=True, slots=True)
class Notice:
    """What a reader noted about one line or file of its input."""

    path: Path
    line: int | None
    message: str
    left_out: bool = False
    """Whether an annotation is missing from the documents for it."""
    file_left_out: bool = False
    """Whether a whole file is missing, or a line that should have been a document."""

    def __str__(self) -> str:
        where = f"{self.path}" if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.message}"


@dataclass(slots=True)
class Reading:
    """How to read, and what was noted on the way.

    With `skip_bad` an invalid annotation, and a file that is not in the `encoding`, is skipped and
    noted; without, it ends the reading. `encoding` is a name that Python knows, or `auto`. Texts
    without annotations among annotated ones end the reading, or with `missing_annotations`
    "empty" are documents without entities; they are counted in any case. Of tables, `text_column`
    and `id_column` name the columns of texts and ids (None: `text` and, if there is one, `id`).
    """

    skip_bad: bool = False
    encoding: str = UTF_8
    missing_annotations: MissingAnnotations = "empty"
    text_column: str | None = None
    id_column: str | None = None
    notices: list[Notice] = field(default_factory=list)
    guesses: dict[Path, str] = field(default_factory=dict)
    """Encodings that were guessed, by file."""

    def __post_init__(self) -> None:
        if self.missing_annotations not in (known := get_args(MissingAnnotations)):
            wrong = f"unknown missing_annotations {self.missing_annotations!r}"
            raise InputError(f"{wrong}; known are: {', '.join(known)}")

    def bad(self, message: str, *, path: Path, line: int | None = None) -> None:
        """Skip and note an invalid annotation. Raises InputError unless `skip_bad`."""
        error = InputError(message, path=path, line=line)
        if not self.skip_bad:
            raise error
        self.notices.append(Notice(path, line, f"left out: {error.message}", left_out=True))

    @contextmanager
    def annotation(self, *, path: Path, line: int | None = None, where: str = "") -> Iterator[None]:
        """Around the reading of one annotation: a ValueError means that it is `bad`."""
        try:
            yield
        except ValueError as error:
            self.bad(f"{where}{error}", path=path, line=line)

    @contextmanager
    def file(self, path: Path) -> Iterator[None]:
        """Around the reading of one file as a whole: with `skip_bad` one that is not in the
        encoding is left out and noted."""
        try:
            yield
        except EncodingError as error:
            self.bad_file(error)

    def bad_file(self, error: EncodingError) -> None:
        """Leave out and note a file or a line of one. Raises the error unless `skip_bad`."""
        if not self.skip_bad or error.path is None:
            raise error
        message = f"left out: {error.message}"
        self.notices.append(Notice(error.path, error.line, message, file_left_out=True))

    def missing(self, texts: Sequence[Path], *, of: int, root: Path) -> None:
        """Count texts without a `.ann` among those that have one.

        Raises InputError unless they are to be documents without entities.
        """
        if not texts:
            return
        first = texts[0].relative_to(root) if texts[0].is_relative_to(root) else texts[0]
        message = f"no .ann for {len(texts):,} of {counted(of, 'text')}, such as {first}"
        if self.missing_annotations == "error":
            advice = "add it, or take them as documents without entities: "
            raise InputError(f"{message}: {advice}--missing-annotations empty", path=root)
        self.note(f"{message}: read as documents without entities", path=root)

    def text(self, path: Path, *, about: Path | None = None) -> str:
        """A file's characters, as `read_text` has them; an encoding that was guessed is noted.

        `about` is the text that it annotates, which has been read: it is in the encoding that was
        guessed for that, of which there is more to guess by.
        """
        return self.decoded(_bytes_of(path), path, about=about)

    def decoded(self, data: bytes, path: Path, *, about: Path | None = None) -> str:
        """The characters of a file's bytes, as `text`. Raises EncodingError."""
        likely = self.guesses.get(about or path)
        text, encoding = decoded(data, self.encoding, path, likely=likely)
        if self.encoding == AUTO and not is_utf_8(encoding):
            self.guesses[path] = encoding
            self.note(f"is not UTF-8: read as {encoding}, a guess", path=path)
        return text

    def note(self, message: str, *, path: Path, line: int | None = None) -> None:
        """Something worth knowing by which nothing is lost."""
        self.notices.append(Notice(path, line, message))


WITHOUT_WORDS = "documents without words"
"""What formats of ready words drop whole."""


@dataclass(frozen=True, slots=True)
class WriteReport:
    """How many files were written, and what the format could not hold: kind -> count.

    `notes` is what is worth knowing by which nothing is lost.
    """

    files: int
    dropped: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def documents_dropped(self) -> int:
        """Number of documents that are not in the files at all."""
        return self.dropped.get(WITHOUT_WORDS, 0)

    def notices(self) -> list[str]:
        """A sentence for each kind of loss, and the notes."""
        lost = [
            f"{kind} not written, as the format cannot hold them: {n:,}"
            for kind, n in self.dropped.items()
            if n
        ]
        return [*lost, *self.notes]


def read_text(path: Path) -> str:
    """The characters, line ends included, of a file that is not one of documents.

    Raises InputError when it cannot be read or is not UTF-8, naming the line of the first bad byte.
    """
    try:
        return decoded(_bytes_of(path), UTF_8, path)[0]
    except EncodingError as error:
        message = error.message.removesuffix(ADVICE)
        raise InputError(f"{message}: save it as UTF-8", path=path, line=error.line) from error


def _bytes_of(path: Path) -> bytes:
    check_readable(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file to be read in pieces. Raises InputError when it cannot be opened."""
    check_readable(path)
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    with file:
        yield file


def decoded_lines(
    lines: Iterable[bytes], path: Path, reading: Reading
) -> Iterator[tuple[int, str]]:
    """Lines that end in `\\n`, without it, and their numbers; `path` is what errors call them.

    A line that is not UTF-8 is left out or raises EncodingError, as `Reading.bad_file` has it.
    Lines of another encoding are decoded together, when all have come.
    """
    if not is_utf_8(reading.encoding):
        text = reading.decoded(b"".join(lines), path)
        yield from enumerate(text.removesuffix("\n").split("\n"), 1)
        return
    before = 0
    for number, line in enumerate(lines, 1):
        try:
            text = line.removesuffix(b"\n").decode("utf-8")
        except UnicodeDecodeError as error:
            message = not_in(UTF_8, before + error.start)
            reading.bad_file(EncodingError(message, path=path, line=number))
        else:
            yield number, text
        before += len(line)
