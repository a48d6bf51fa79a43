"""What the literature counts in a corpus, compared with what was read.

Sentences are not compared: they depend on the splitter (Dai et al. used CoreNLP's).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from trigner.corpora.reading import Reading
from trigner.mentions import Document

PAPER = "the paper"


@dataclass(frozen=True, slots=True)
class Counts:
    """Sizes of a corpus or a part, after Dai et al.'s pre-processing (ACL 2020).

    `label` is the type that is counted, None for all. `distinct` says that annotations of the same
    characters count once. `crossing` is how many mentions of the annotation files are not among
    `mentions`, as they cross sentences. A size that is not known is None.
    """

    sentences: int | None
    mentions: int
    discontinuous: int
    label: str | None = None
    distinct: bool = False
    crossing: int = 0
    source: str = PAPER


def compared(
    documents: Iterable[Document], expected: Counts | None, reading: Reading, *, path: Path
) -> Iterator[Document]:
    """The documents as they come; at their end a note when their counts are not the expected."""
    mentions = discontinuous = 0
    for document in documents:
        yield document
        if expected is None:
            continue
        chosen = [e for e in document.entities if expected.label in (None, e.label)]
        if expected.distinct:
            chosen = list({entity.fragments: entity for entity in chosen}.values())
        mentions += len(chosen)
        discontinuous += sum(map(document.is_discontinuous, chosen))
    if expected is not None:
        _note_differences(mentions, discontinuous, expected, reading, path)


def _note_differences(
    mentions: int, discontinuous: int, expected: Counts, reading: Reading, path: Path
) -> None:
    what = "mentions" if expected.label is None else f"{expected.label} mentions"
    if mentions != expected.mentions + expected.crossing:
        left_out = (
            f" and leaves out {expected.crossing} that cross sentences" if expected.crossing else ""
        )
        reading.note(
            f"read {mentions:,} {what}; {expected.source} reports {expected.mentions:,}{left_out}",
            path=path,
        )
    # Mentions that cross sentences may be discontinuous: the published count is a lower bound.
    most = expected.discontinuous + expected.crossing
    if not expected.discontinuous <= discontinuous <= most:
        reading.note(
            f"read {discontinuous:,} discontinuous {what};"
            f" {expected.source} reports {expected.discontinuous:,}",
            path=path,
        )
