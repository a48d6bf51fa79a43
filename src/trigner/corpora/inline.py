"""Inline text as Dai et al. (2020) prepare it: three lines a sentence.

words by blanks
0,0,3,5 ADR|7,8 ADR        pairs of inclusive word indices, then the type
(empty)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from trigner.corpora.documents import files, peek, read_files
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.words import WordSentence, between, checked, document_of, write_sentences
from trigner.errors import InputError
from trigner.mentions import Document, Mention, shortened

NAME = "inline"

ENDINGS: tuple[str, ...] = (".txt", ".inline")
# More digits than any sentence needs, and fewer than Python refuses to read.
_PAIRS = re.compile(r"[0-9]{1,9},[0-9]{1,9}(?:,[0-9]{1,9},[0-9]{1,9})*")
_MENTION = rf"{_PAIRS.pattern} [^|]+"
_MENTIONS = re.compile(rf"{_MENTION}(?:\|{_MENTION})*")


def recognises(path: Path) -> bool:
    """Text files without `.ann` in which the second line of every three holds mentions or nothing.

    At least one of the first sentences must have some: otherwise it could be any text.
    """
    found = files(path, ENDINGS)
    return bool(found) and all(_is_inline(file) for file in found)


def _is_inline(path: Path) -> bool:
    annotated = any(path.with_suffix(ending).exists() for ending in (".ann", ".ANN"))
    if path.suffix.lower() not in ("", *ENDINGS) or annotated:
        return False
    lines = [line.rstrip("\r") for line in peek(path).split("\n")[:-1]]
    seconds = [line for line in lines[1::3] if line.strip()]
    fits = all(_MENTIONS.fullmatch(line) for line in seconds)
    return bool(seconds) and fits and not any(line.strip() for line in lines[2::3])


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """One document for each sentence, called after its file and number."""

    def read_file(file: Path, name: str, reading: Reading) -> Iterator[tuple[int, Document]]:
        lines = [line.removesuffix("\r") for line in reading.text(file).split("\n")]
        while lines and not lines[-1].strip():
            lines.pop()
        if not lines:
            raise InputError("is empty", path=file)
        for number, start in enumerate(range(0, len(lines), 3), 1):
            words = _words(lines[start], file, start + 1)
            if start + 2 < len(lines) and lines[start + 2].strip():
                raise InputError("expected an empty line", path=file, line=start + 3)
            given = lines[start + 1] if start + 1 < len(lines) else ""
            mentions = _mentions(given, words, reading, file, start + 2)
            yield start + 1, document_of(f"{name}-{number}", words, mentions)

    return read_files(path, ENDINGS, reading, read_file)


def _words(line: str, path: Path, number: int) -> list[str]:
    """The words of a line, exactly as they were joined by blanks.

    Other white space is part of a word: tokenizers leave no-break spaces in fractions.
    """
    if not line.strip():
        raise InputError("expected the words of a sentence", path=path, line=number)
    words = line.rstrip(" ").split(" ")
    if "" in words:
        message = f"word {words.index('')} is empty: one space too many"
        raise InputError(message, path=path, line=number)
    return words


def _mentions(
    line: str, words: Sequence[str], reading: Reading, path: Path, number: int
) -> list[Mention]:
    def note(message: str) -> None:
        reading.note(message, path=path, line=number)

    found = []
    for part in filter(None, (p.strip() for p in line.split("|"))):
        offsets, _, label = part.partition(" ")
        label = label.strip()
        if not label or not _PAIRS.fullmatch(offsets):
            reading.bad(
                f"expected `start,end,... type`, found {shortened(part)}", path=path, line=number
            )
            continue
        bounds = [int(bound) for bound in offsets.split(",")]
        with reading.annotation(path=path, line=number):
            indices = [
                word
                for first, last in zip(bounds[::2], bounds[1::2], strict=True)
                for word in between(first, last, words)
            ]
            found.append(checked(indices, label, words, note))
    return found


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file. Documents without words have no place.

    Raises InputError for words that are empty or hold blanks or line breaks, and for labels that
    hold a bar or a line break.
    """
    dropped: Counter[str] = Counter()

    def counted() -> Iterator[Document]:
        for document in documents:
            # Sentences are called after the file they are read from.
            dropped["document ids" if document.words is None else "sentence names"] += 1
            yield document

    return write_sentences(
        counted(), path, dropped, lambda sentence: _block(sentence, path), keeps=NAME
    )


def _block(sentence: WordSentence, path: Path) -> str:
    for word in sentence.words:
        if not word.strip() or any(mark in word for mark in " \n\r"):
            message = f"word {shortened(word)} is or contains white space, which separates words"
            raise InputError(f"sentence {sentence.id}: {message}", path=path)
    for mention in sentence.mentions:
        label = mention.label
        if not label or label != label.strip() or any(mark in label for mark in "|\n\r"):
            message = f"label {shortened(label)} contains a bar, which separates entities"
            raise InputError(f"sentence {sentence.id}: {message}", path=path)
    mentions = "|".join(f"{_bounds(m)} {m.label}" for m in sentence.mentions)
    return f"{' '.join(sentence.words)}\n{mentions}\n\n"


def _bounds(mention: Mention) -> str:
    return ",".join(f"{first},{last}" for first, last in mention.segments)
