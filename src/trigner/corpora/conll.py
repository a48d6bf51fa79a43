"""CoNLL's columns: a word a line, its tag in the last column, an empty line after a sentence.

    # id = post-1
    pain<TAB>B-ADR
    in<TAB>O

Columns are separated by tabs or blanks. IOB (1 and 2), IOBES and BILOU tags are read; BIO (IOB2) is
written. Lines `-DOCSTART-` are skipped. Entities that are discontinuous or overlap have no tags.
Source: Tjong Kim Sang and De Meulder, CoNLL 2003.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from trigner.corpora.documents import files, peek, read_files
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.tags import TAG, mentions_of, tags_of
from trigner.corpora.words import WordSentence, document_of, write_sentences
from trigner.errors import InputError
from trigner.mentions import Document, shortened

NAME = "conll"
ENDINGS: tuple[str, ...] = (".conll", ".bio", ".iob", ".iobes", ".tsv")

_COMMENT = re.compile(r"# (\w+) = (.*)")
_START = "-DOCSTART-"


def recognises(path: Path) -> bool:
    """Files in which every line that is not empty ends with a tag."""
    found = files(path, ENDINGS)
    return bool(found) and all(map(_is_tagged, found))


def _is_tagged(file: Path) -> bool:
    if file.suffix.lower() not in ("", *ENDINGS):
        return False
    lines = peek(file).split("\n")[:-1]
    columns = [_columns(line) for line in lines if line.strip() and not _COMMENT.fullmatch(line)]
    return bool(columns) and all(len(c) > 1 and c[0] and TAG.fullmatch(c[-1]) for c in columns)


def _columns(line: str) -> list[str]:
    """The columns of a line: a word may hold blanks where tabs separate, the tag none around it."""
    line = line.rstrip("\r")
    # A word may hold no-break spaces, which are blanks to `str.split`.
    found = line.split("\t") if "\t" in line else re.split(" +", line.strip())
    return [*found[:-1], found[-1].strip()]


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """One document for each sentence of a file, or of all such files below a folder.

    Its id is that of a line `# id = ...`, else made of the file and the sentence's number.
    """

    def read_file(file: Path, name: str, reading: Reading) -> Iterator[tuple[int, Document]]:
        others = 0
        number = 0
        for line, id, rows in _sentences(reading.text(file).removeprefix("\ufeff"), file):
            number += 1
            others = max(others, *(len(columns) - 2 for columns in rows))
            words = [columns[0] for columns in rows]
            mentions = mentions_of([columns[-1] for columns in rows])
            yield line, document_of(id or f"{name}-{number}", words, mentions)
        if not number:
            raise InputError("is empty", path=file)
        if others:
            reading.note(f"{others} columns between word and tag are not read", path=file)

    return read_files(path, ENDINGS, reading, read_file)


def _sentences(text: str, path: Path) -> Iterator[tuple[int, str | None, list[list[str]]]]:
    """The first line, id and rows of each sentence."""
    id: str | None = None
    rows: list[list[str]] = []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if not line.strip():
            if rows:
                yield number - len(rows), id, rows
                id, rows = None, []
            continue
        comment = None if "\t" in line or rows else _COMMENT.fullmatch(line.rstrip("\r"))
        if comment is not None:
            id = comment[2] if comment[1] == "id" else id
            continue
        columns = _columns(line)
        if columns[0] == _START:
            continue
        if len(columns) < 2 or not columns[0] or not TAG.fullmatch(columns[-1]):
            message = f"expected a word and a tag such as O or B-ADR, found {shortened(line)}"
            raise InputError(message, path=path, line=number)
        rows.append(columns)


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file; documents of raw text are split into sentences first.

    Raises InputError for words and labels that are empty or hold tabs, line breaks or, at the
    edges of labels, blanks.
    """
    dropped: Counter[str] = Counter()
    return write_sentences(
        documents, path, dropped, lambda sentence: _block(sentence, path, dropped), keeps=NAME
    )


def _block(sentence: WordSentence, path: Path, dropped: Counter[str]) -> str:
    for word in sentence.words:
        if not word or word == _START or any(mark in word for mark in "\t\n\r"):
            message = f"word {shortened(word)} cannot be written in a column"
            raise InputError(f"sentence {shortened(sentence.id)}: {message}", path=path)
    try:
        tags = tags_of(sentence, dropped)
    except ValueError as error:
        raise InputError(f"sentence {shortened(sentence.id)}: {error}", path=path) from error
    rows = "".join(f"{word}\t{tag}\n" for word, tag in zip(sentence.words, tags, strict=True))
    if sentence.id.isprintable() and sentence.id == sentence.id.strip():
        return f"# id = {sentence.id}\n{rows}\n"
    dropped["sentence names"] += 1
    # A byte order mark that begins the first word would be taken for the file's.
    return f"# words = {len(sentence.words)}\n{rows}\n"
