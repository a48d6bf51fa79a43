"""What sentence and word splitters lose on a brat corpus, and what they cost.

    python research/benchmarks/splitters.py FOLDER [FOLDER ...] [--only NAME] [--repeat N]

Two tables. Sentences: mentions cut by a boundary, how many sentences, their length in words, the
cells of all word-pair grids (what a grid tagger pays), time. Words: mentions whose ends are not
ends of words. "+ blocks": blank lines were made boundaries before the library saw the text.
Libraries that are not installed are named and left out; none may download anything.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from trigner.corpora import read
from trigner.mentions import Document, Fragment
from trigner.text.sentences import split
from trigner.text.words import word_ranges

Splitter = Callable[[str], Iterable[Fragment]]
"""Text to character ranges."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """`make` loads the library (ImportError when it is absent) and gives the splitter."""

    name: str
    package: str | None
    make: Callable[[], Splitter]


# Sentences


def _rule() -> Splitter:
    end = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])")
    return lambda text: _between(text, (match.span() for match in end.finditer(text)))


def _lines() -> Splitter:
    return lambda text: (match.span() for match in re.finditer(r"[^\n]*\S[^\n]*", text))


def _punkt() -> Splitter:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    spans: Splitter = PunktSentenceTokenizer().span_tokenize
    return spans


def _pysbd() -> Splitter:
    import pysbd

    segmenter = pysbd.Segmenter(language="en", clean=False, char_span=True)
    return lambda text: ((span.start, span.end) for span in segmenter.segment(text))


def _blingfire() -> Splitter:
    import blingfire

    return lambda text: blingfire.text_to_sentences_and_offsets(text)[1] if text.strip() else []


def _sentencex() -> Splitter:
    import sentencex

    return lambda text: (
        (found["start_index"], found["end_index"])
        for found in sentencex.get_sentence_boundaries("en", text)
    )


def _syntok() -> Splitter:
    from syntok import segmenter

    def ranges(text: str) -> Iterable[Fragment]:
        sentences = [s for paragraph in segmenter.analyze(text) for s in paragraph if s]
        starts = [sentence[0].offset for sentence in sentences]
        return pairwise([*starts, len(text)])

    return ranges


def _segtok() -> Splitter:
    from segtok.segmenter import split_multi

    return lambda text: _found(text, split_multi(text))


# Words


def _pattern(pattern: str) -> Callable[[], Splitter]:
    found = re.compile(pattern)
    return lambda: lambda text: [match.span() for match in found.finditer(text)]


def _bert() -> Splitter:
    from tokenizers.pre_tokenizers import BertPreTokenizer

    splitter = BertPreTokenizer()
    return lambda text: [span for _, span in splitter.pre_tokenize_str(text)]


def _blingfire_words() -> Splitter:
    import blingfire

    return lambda text: _found(text, blingfire.text_to_words(text).split(" "))


def _syntok_words() -> Splitter:
    from syntok.tokenizer import Tokenizer

    tokenizer = Tokenizer(replace_not_contraction=False)
    return lambda text: [
        (token.offset, token.offset + len(token.value)) for token in tokenizer.tokenize(text)
    ]


def _treebank() -> Splitter:
    from nltk.tokenize import NLTKWordTokenizer

    spans: Splitter = NLTKWordTokenizer().span_tokenize
    return spans


SENTENCES = (
    Candidate("plain rule", None, _rule),
    Candidate("one line each", None, _lines),
    Candidate("punkt, untrained", "nltk", _punkt),
    Candidate("pysbd", "pysbd", _pysbd),
    Candidate("blingfire", "blingfire", _blingfire),
    Candidate("sentencex", "sentencex", _sentencex),
    Candidate("syntok", "syntok", _syntok),
    Candidate("segtok", "segtok", _segtok),
)
WORDS = (
    Candidate("ours", None, lambda: word_ranges),
    Candidate("blanks only", None, _pattern(r"\S+")),
    Candidate("word characters, else single", None, _pattern(r"\w+|[^\w\s]")),
    Candidate("tokenizers BertPreTokenizer", "tokenizers", _bert),
    Candidate("blingfire words", "blingfire", _blingfire_words),
    Candidate("syntok words", "syntok", _syntok_words),
    Candidate("nltk treebank", "nltk", _treebank),
)


def _between(text: str, gaps: Iterable[Fragment]) -> Iterable[Fragment]:
    start = 0
    for gap_start, gap_end in gaps:
        yield start, gap_start
        start = gap_end
    yield start, len(text)


def _found(text: str, subwords: Iterable[str]) -> Iterable[Fragment]:
    """Where subwords stand that a library gives without offsets; changed subwords are not found."""
    at = 0
    for subword in subwords:
        start = text.find(subword, at)
        if subword and start >= 0:
            at = start + len(subword)
            yield start, at


def _in_blocks(splitter: Splitter) -> Splitter:
    blank = re.compile(r"\n[^\S\n]*\n\s*")

    def ranges(text: str) -> Iterable[Fragment]:
        for start, end in _between(text, (match.span() for match in blank.finditer(text))):
            for first, last in splitter(text[start:end]):
                yield start + first, start + last

    return ranges


def _visible(text: str, ranges: Iterable[Fragment]) -> list[Fragment]:
    return [(start, end) for start, end in ranges if text[start:end].strip()]


# Measurements


def _timed(splitter: Splitter, texts: Sequence[str], repeat: int) -> tuple[list[Any], float]:
    best = float("inf")
    result: list[Any] = []
    for _ in range(repeat):
        begin = time.perf_counter()
        result = [list(splitter(text)) for text in texts]
        best = min(best, time.perf_counter() - begin)
    return result, best


def _cut(document: Document, starts: Sequence[int]) -> int:
    """Entities with their first and their last character in different sentences."""
    merged = [document.merged(entity.fragments) for entity in document.entities]
    return sum(
        bisect_right(starts, spans[0][0]) != bisect_right(starts, spans[-1][1] - 1)
        for spans in merged
        if spans
    )


def _sentence_row(
    name: str, weight: str, documents: Sequence[Document], splitter: Splitter, repeat: int
) -> list[str]:
    texts = [document.text for document in documents]
    results, seconds = _timed(splitter, texts, repeat)
    cut, missing, lengths = 0, 0, []
    for document, ranges in zip(documents, results, strict=True):
        ranges = _visible(document.text, ranges)
        cut += _cut(document, [start for start, _ in ranges])
        covered = sum(len("".join(document.text[a:b].split())) for a, b in ranges)
        missing += abs(len("".join(document.text.split())) - covered)
        lengths += [len(word_ranges(document.text[start:end])) for start, end in ranges]
    entities = sum(len(document.entities) for document in documents)
    sizes = np.array(lengths)
    p50, p95, p99 = np.percentile(sizes, [50, 95, 99])
    return [
        name,
        f"{cut} ({cut / entities:.2%})",
        str(missing),
        str(len(sizes)),
        f"{p50:.0f} / {p95:.0f} / {p99:.0f} / {sizes.max()}",
        f"{(sizes.astype(float) ** 2).sum() / 1e6:.2f}",
        f"{seconds / sum(map(len, texts)) * 1e6:.2f}",
        weight,
    ]


def _word_row(
    name: str, weight: str, documents: Sequence[Document], splitter: Splitter, repeat: int
) -> list[str]:
    texts = [document.text for document in documents]
    results, seconds = _timed(splitter, texts, repeat)
    lost, missing, count = 0, 0, 0
    for document, ranges in zip(documents, results, strict=True):
        ranges = _visible(document.text, ranges)
        count += len(ranges)
        starts, ends = {start for start, _ in ranges}, {end for _, end in ranges}
        for entity in document.entities:
            merged = document.merged(entity.fragments)
            lost += not all(start in starts and end in ends for start, end in merged)
        covered = sum(len("".join(document.text[a:b].split())) for a, b in ranges)
        missing += abs(len("".join(document.text.split())) - covered)
    entities = sum(len(document.entities) for document in documents)
    rate = seconds / sum(map(len, texts)) * 1e6
    cells = [name, f"{lost} ({lost / entities:.2%})", str(missing), str(count), f"{rate:.2f}"]
    return [*cells, weight]


def _weight(package: str | None) -> str:
    """Megabytes that the package's own files take, without what it depends on."""
    if package is None:
        return "0"
    files = importlib.metadata.files(package) or []
    return f"{sum(file.size or 0 for file in files) / 1e6:.1f}"


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="left" if column == "splitter" else "right")
    return table


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--only", help="candidates with this in their name")
    parser.add_argument("--repeat", type=int, default=1, help="runs; the fastest counts")
    options = parser.parse_args()
    documents = [d for folder in options.folders for d in read(folder, format="brat").documents]
    console = Console(width=150)
    entities = sum(len(document.entities) for document in documents)
    console.print(f"{len(documents)} documents, {entities} entities")

    columns = ("splitter", "cut", "not covered", "sentences", "words p50/p95/p99/max", "M cells")
    sentences = _table("Sentences", (*columns, "s per MB", "MB"))
    words = _table("Words", ("splitter", "not aligned", "not covered", "words", "s per MB", "MB"))

    def ours(text: str) -> Iterable[Fragment]:
        return [(sentence[0][0], sentence[-1][1]) for sentence in split(text)]

    sentences.add_row(*_sentence_row("ours", _weight("sentencex"), documents, ours, options.repeat))
    for table, candidates in ((sentences, SENTENCES), (words, WORDS)):
        for candidate in candidates:
            if options.only and options.only not in candidate.name:
                continue
            try:
                splitter = candidate.make()
            except ImportError:
                console.print(f"{candidate.name}: not installed, left out")
                continue
            weight = _weight(candidate.package)
            if table is words:
                row = _word_row(candidate.name, weight, documents, splitter, options.repeat)
                words.add_row(*row)
                continue
            for name, variant in (
                (candidate.name, splitter),
                (candidate.name + " + blocks", _in_blocks(splitter)),
            ):
                row = _sentence_row(name, weight, documents, variant, options.repeat)
                sentences.add_row(*row)
    console.print(sentences)
    console.print(words)


if __name__ == "__main__":
    main()
