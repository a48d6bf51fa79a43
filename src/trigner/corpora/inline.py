"""Inline text as Dai et al. (2020) prepare it: three lines a sentence.

words by blanks
0,0,3,5 ADR|7,8 ADR        pairs of inclusive word indices, then the type
(empty)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from trigner.corpora.documents import files, peek
from trigner.corpora.grid import checked, dropped_with_words
from trigner.corpora.reading import Reading, WriteReport, read_text, write_text
from trigner.corpora.words import document_of, sentences_of
from trigner.errors import InputError
from trigner.mentions import Document, Mention

NAME = "inline"

_MENTION = r"\d+,\d+(?:,\d+,\d+)* [^|]+"
_MENTIONS = re.compile(rf"{_MENTION}(?:\|{_MENTION})*")


def recognises(path: Path) -> bool:
    """Text files without `.ann` in which the second line of every three holds mentions or nothing.

    At least one of the first sentences must have some: otherwise it could be any text.
    """
    found = files(path, (".txt", ".inline"))
    return bool(found) and all(_is_inline(file) for file in found)


def _is_inline(path: Path) -> bool:
    if path.with_suffix(".ann").exists() or path.suffix not in {".txt", ".inline"}:
        return False
    lines = [line.rstrip("\r") for line in peek(path).split("\n")[:-1]]
    seconds = [line for line in lines[1::3] if line.strip()]
    fits = all(_MENTIONS.fullmatch(line) for line in seconds)
    return bool(seconds) and fits and not any(line.strip() for line in lines[2::3])


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """One document for each sentence, called after its file and number."""
    for file in files(path, (".txt", ".inline")):
        lines = [line.removesuffix("\r") for line in read_text(file).split("\n")]
        while lines and not lines[-1].strip():
            lines.pop()
        for number, start in enumerate(range(0, len(lines), 3), 1):
            words = lines[start].split()
            if not words:
                raise InputError("expected the words of a sentence", path=file, line=start + 1)
            if start + 2 < len(lines) and lines[start + 2].strip():
                raise InputError("expected an empty line", path=file, line=start + 3)
            given = lines[start + 1] if start + 1 < len(lines) else ""
            mentions = _mentions(given, len(words), reading, file, start + 2)
            yield document_of(f"{file.stem}-{number}", words, mentions)


def _mentions(line: str, length: int, reading: Reading, path: Path, number: int) -> list[Mention]:
    found = []
    for part in filter(None, (p.strip() for p in line.split("|"))):
        offsets, _, label = part.partition(" ")
        numbers = offsets.split(",")
        if not label or len(numbers) % 2 or not all(n.isdecimal() for n in numbers):
            reading.bad(f"expected `start,end,... type`, found {part!r}", path=path, line=number)
            continue
        pairs = [(int(a), int(b)) for a, b in zip(numbers[::2], numbers[1::2], strict=True)]
        backwards = [pair for pair in pairs if pair[0] > pair[1]]
        if backwards:
            start, end = backwards[0]
            reading.bad(f"span {start},{end} ends before it starts", path=path, line=number)
            continue
        indices = [word for start, end in pairs for word in range(start, min(end, length) + 1)]
        mention = checked(indices, label.strip(), length, reading, path=path, line=number)
        if mention is not None:
            found.append(mention)
    return found


def write(documents: Sequence[Document], path: Path) -> WriteReport:
    """One file. Sentences without words have no place, nor do words with blanks inside."""
    sentences, unreachable = sentences_of(documents)
    blocks = []
    empty = 0
    for sentence in sentences:
        if not sentence.words:
            empty += 1
            continue
        torn = [word for word in sentence.words if word.split() != [word]]  # an empty one too
        if torn:
            raise InputError(
                f"sentence {sentence.id}: word {torn[0]!r} holds a blank or nothing: blanks separate words here"
            )
        mentions = "|".join(f"{_spans(m.words)} {m.label}" for m in sentence.mentions)
        blocks.append(f"{' '.join(sentence.words)}\n{mentions}\n\n")
    write_text(path, "".join(blocks))
    dropped = {"sentences without words": empty, **dropped_with_words(documents, unreachable)}
    return WriteReport(1, dropped)


def _spans(words: Sequence[int]) -> str:
    bounds: list[int] = []
    for word in words:
        if bounds and word == bounds[-1] + 1:
            bounds[-1] = word
        else:
            bounds += [word, word]
    return ",".join(map(str, bounds))
