"""What a corpus holds: the paper's table of data statistics and its figure of token gaps.

Paper: Cabral et al., TriG-NER, WWW 2025, appendices "Data statistics" and "Token Gap Analysis".
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from trigner.evaluation.figures import figure_for, save_figure
from trigner.evaluation.table import report_table
from trigner.machine import counted
from trigner.mentions import Document, Fragment
from trigner.text import split

Range = tuple[int, int]
"""Smallest and largest."""


LONGEST_BAR = 40
"""Words. A few gaps of hundreds would press all others into a line."""


@dataclass(frozen=True, slots=True)
class Group:
    """Entities of one kind; all lengths are in words.

    `share` is the part of all entities that they are, in [0, 1]. `tokens` is how many words an
    entity has, `extent` how many there are from its first to its last word, both included (the
    paper's start-end distance); None when no entity has words. `gaps` counts the gaps by how many
    words stand between two neighbouring fragments of an entity: 0 when both lie in one word or in
    two that follow one another.
    """

    n: int
    share: float
    tokens: Range | None
    extent: Range | None
    gaps: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Kinds:
    """Entities in all, the continuous ones and the discontinuous ones.

    An entity is discontinuous when more than white space stands between two fragments.
    """

    entities: int
    continuous: Group
    discontinuous: Group

    def as_json(self) -> dict[str, Any]:
        """The three, ready for JSON: ranges are lists, gap lengths are strings in order."""
        whole, parted = self.continuous, self.discontinuous
        return {
            "entities": self.entities,
            "continuous": {"n": whole.n, "share": whole.share, "tokens": _listed(whole.tokens)},
            "discontinuous": {
                "n": parted.n,
                "share": parted.share,
                "tokens": _listed(parted.tokens),
                "extent": _listed(parted.extent),
                "gaps": {str(length): n for length, n in parted.gaps.items()},
            },
        }


@dataclass(frozen=True, slots=True)
class Statistics:
    """What `describe` finds in documents; labels are in alphabetical order."""

    documents: int
    sentences: int
    overall: Kinds
    per_type: Mapping[str, Kinds]

    def as_json(self) -> dict[str, Any]:
        """The object that `trigner stats --json` prints."""
        return {
            "documents": self.documents,
            "sentences": self.sentences,
            **self.overall.as_json(),
            "per_type": {label: kinds.as_json() for label, kinds in self.per_type.items()},
        }


@dataclass(frozen=True, slots=True)
class _Shape:
    """One entity in words; `tokens` is 0 when it has none."""

    label: str
    is_discontinuous: bool
    tokens: int
    extent: int
    gaps: tuple[int, ...]


def describe(documents: Iterable[Document]) -> Statistics:
    """Statistics of documents and their entities as annotated, repeated ones included.

    Sentences and words are those of `trigner.text`, or the document's own. An entity has the
    words that its fragments touch, also when it covers them in part or lies in two sentences.
    """
    count = sentences = 0
    shapes: list[_Shape] = []
    for document in documents:
        found = split(document.text) if document.words is None else (document.words,)
        count += 1
        sentences += sum(1 for words in found if words)
        shapes += _shapes(document, [word for words in found for word in words])
    by_label: defaultdict[str, list[_Shape]] = defaultdict(list)
    for shape in shapes:
        by_label[shape.label].append(shape)
    return Statistics(
        documents=count,
        sentences=sentences,
        overall=_kinds(shapes),
        per_type={label: _kinds(own) for label, own in sorted(by_label.items())},
    )


def statistics_table(statistics: Statistics) -> Table:
    """The paper's table with its rows as columns; a row for each label and one for all."""
    rows = {**statistics.per_type, "all": statistics.overall}
    shown = report_table(
        ("",),
        ("entities", "contin.", "words", "discont.", "share", "words", "extent", "gap"),
        title=Text(
            f"{counted(statistics.documents, 'document')},"
            f" {counted(statistics.sentences, 'sentence')}"
        ),
        title_justify="left",
        caption=Text("words: of an entity; extent: first to last word; gap: between two parts"),
        caption_justify="left",
    )
    for label, kinds in rows.items():
        whole, parted = kinds.continuous, kinds.discontinuous
        shown.add_row(
            Text(label),
            f"{kinds.entities:,}",
            *(f"{whole.n:,}", _shown(whole.tokens)),
            *(f"{parted.n:,}", f"{parted.share:.2%}", _shown(parted.tokens)),
            *(_shown(parted.extent), _shown(_range(parted.gaps))),
        )
    return shown


def plot_gaps(statistics: Statistics, path: str | Path, *, overwrite: bool = True) -> None:
    """Draw how many gaps of discontinuous entities have how many words; the suffix is the format.

    Gaps over `LONGEST_BAR` words have one bar together; how many they are, and the longest, stands
    below. Raises TrignerError when matplotlib is not installed (extra `plots`) and, without
    `overwrite`, for a file that is there; InputError when matplotlib has no format of that suffix.
    """
    path = Path(path)
    figure = figure_for(path, width=6, height=3.5)
    gaps = statistics.overall.discontinuous.gaps
    axes = figure.subplots()
    bars, longer = gap_bars(gaps)
    axes.bar(list(bars), list(bars.values()), width=0.9)
    axes.set_xlabel("words in the gap")
    axes.set_ylabel("gaps of discontinuous entities")
    axes.locator_params(integer=True)
    if longer:
        last = LONGEST_BAR + 2
        axes.bar([last], [longer], width=0.9, hatch="///", fill=False)
        ticks = range(0, LONGEST_BAR, 5)
        axes.set_xticks([*ticks, last], [*map(str, ticks), f">{LONGEST_BAR}"])
        axes.set_xlabel(
            f"words in the gap; {longer:,} of {sum(gaps.values()):,} gaps have over {LONGEST_BAR},"
            f" up to {max(gaps):,}"
        )
    save_figure(figure, path, overwrite=overwrite)


def gap_bars(gaps: Mapping[int, int]) -> tuple[dict[int, int], int]:
    """The gaps of at most `LONGEST_BAR` words by length, and how many are longer."""
    bars = {length: n for length, n in gaps.items() if length <= LONGEST_BAR}
    return bars, sum(gaps.values()) - sum(bars.values())


def _shapes(document: Document, words: Sequence[Fragment]) -> Iterable[_Shape]:
    starts = [start for start, _ in words]
    ends = [end for _, end in words]
    for entity in document.entities:
        merged = document.merged(entity.fragments)
        # First and one past the last word that each fragment touches.
        spans = [(bisect_right(ends, start), bisect_left(starts, end)) for start, end in merged]
        yield _Shape(
            label=entity.label,
            is_discontinuous=len(merged) > 1,
            tokens=len({word for span in spans for word in range(*span)}),
            extent=spans[-1][1] - spans[0][0] if spans else 0,
            gaps=tuple(max(after[0] - before[1], 0) for before, after in pairwise(spans)),
        )


def _kinds(shapes: Sequence[_Shape]) -> Kinds:
    return Kinds(
        entities=len(shapes),
        continuous=_group([s for s in shapes if not s.is_discontinuous], len(shapes)),
        discontinuous=_group([s for s in shapes if s.is_discontinuous], len(shapes)),
    )


def _group(shapes: Sequence[_Shape], total: int) -> Group:
    with_words = [shape for shape in shapes if shape.tokens]
    gaps = Counter(gap for shape in shapes for gap in shape.gaps)
    return Group(
        n=len(shapes),
        share=len(shapes) / total if total else 0.0,
        tokens=_range(shape.tokens for shape in with_words),
        extent=_range(shape.extent for shape in with_words),
        gaps=dict(sorted(gaps.items())),
    )


def _range(numbers: Iterable[int]) -> Range | None:
    found = list(numbers)
    return (min(found), max(found)) if found else None


def _listed(found: Range | None) -> list[int] | None:
    return None if found is None else list(found)


def _shown(found: Range | None) -> str:
    return "–" if found is None else f"{found[0]}–{found[1]}"
