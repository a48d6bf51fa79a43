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
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from trigner.atomic_files import atomic_write
from trigner.corpora.documents import files, peek, read_files
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.words import WordSentence, document_of, dropped_with_words, sentences_of
from trigner.errors import InputError
from trigner.mentions import Document, Mention, shortened

NAME = "conll"
ENDINGS: tuple[str, ...] = (".conll", ".bio", ".iob", ".iobes", ".tsv")

_TAG = re.compile(r"(O)|([BIESLU])-(.+)")
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
    return bool(columns) and all(len(c) > 1 and c[0] and _TAG.fullmatch(c[-1]) for c in columns)


def _columns(line: str) -> list[str]:
    """The columns of a line: a word may hold blanks where tabs separate, the tag none around it."""
    found = line.rstrip("\r").split("\t") if "\t" in line else line.split()
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
            mentions = _mentions([columns[-1] for columns in rows])
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
        if len(columns) < 2 or not columns[0] or not _TAG.fullmatch(columns[-1]):
            message = f"expected a word and a tag such as O or B-ADR, found {shortened(line)}"
            raise InputError(message, path=path, line=number)
        rows.append(columns)


def _mentions(tags: Sequence[str]) -> list[Mention]:
    """The mentions of a sentence's tags, as conlleval takes those that are ill-formed."""
    found: list[Mention] = []
    open_words: list[int] = []
    label = ""
    for word, tag in enumerate([*tags, "O"]):
        match = _TAG.fullmatch(tag)
        kind, own = (match[2], match[3]) if match is not None and match[2] else ("O", "")
        if open_words and (kind in "OBSU" or own != label):
            found.append(Mention(tuple(open_words), label))
            open_words = []
        if kind != "O":
            open_words.append(word)
            label = own
        if open_words and kind in "ESLU":
            found.append(Mention(tuple(open_words), label))
            open_words = []
    return found


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file; documents of raw text are split into sentences first.

    Raises InputError for words and labels that are empty or hold tabs, line breaks or, at the
    edges of labels, blanks.
    """
    dropped: Counter[str] = Counter()
    with atomic_write(path, keep=True) as put:
        for document in documents:
            sentences, unreachable = sentences_of(document)
            for sentence in sentences:
                put(_block(sentence, path, dropped))
            dropped.update(dropped_with_words(document, unreachable, keeps=NAME))
            dropped["fields of documents"] += len(document.fields)
            dropped["fields of entities"] += sum(len(e.fields) for e in document.entities)
    return WriteReport(1, dict(dropped))


def _block(sentence: WordSentence, path: Path, dropped: Counter[str]) -> str:
    if not sentence.words:
        dropped["sentences without words"] += 1
        return ""
    for word in sentence.words:
        if not word or word == _START or any(mark in word for mark in "\t\n\r"):
            message = f"word {shortened(word)} cannot stand in a column"
            raise InputError(f"sentence {shortened(sentence.id)}: {message}", path=path)
    tags = ["O"] * len(sentence.words)
    for mention in sorted(sentence.mentions, key=lambda m: (m.words[0], -len(m.words))):
        label = mention.label
        if not label or label != label.strip() or any(mark in label for mark in "\t\n\r"):
            message = f"label {shortened(label)} cannot stand in a tag"
            raise InputError(f"sentence {shortened(sentence.id)}: {message}", path=path)
        if mention.is_discontinuous:
            dropped["discontinuous entities"] += 1
        elif any(tags[at] != "O" for at in mention.words):
            dropped["overlapping entities"] += 1
        else:
            for at in mention.words:
                tags[at] = f"{'B' if at == mention.words[0] else 'I'}-{label}"
    rows = "".join(f"{word}\t{tag}\n" for word, tag in zip(sentence.words, tags, strict=True))
    if sentence.id.isprintable() and sentence.id == sentence.id.strip():
        return f"# id = {sentence.id}\n{rows}\n"
    dropped["sentence names"] += 1
    return f"{rows}\n"
