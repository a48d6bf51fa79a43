"""The parts of a document that are shown: whole sentences, each entity inside one part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trigner.mentions import Document, Fragment
from trigner.text import sentence_at, sentence_starts


@dataclass(frozen=True, slots=True)
class Snippet:
    """Characters `[start, end)` of a document and the groups of fragments that stand in them.

    `members` are indices into what `snippets` was given. `sentences` is how many sentences of the
    document the snippet takes up.
    """

    start: int
    end: int
    members: tuple[int, ...]
    sentences: int


@dataclass(frozen=True, slots=True)
class Snippets:
    """The snippets with something in them, in order, and how many sentences have nothing."""

    shown: tuple[Snippet, ...]
    others: int


def snippets(document: Document, marked: Sequence[Sequence[Fragment]]) -> Snippets:
    """The sentences that hold `marked` groups of fragments, blanks around sentences left out.

    Sentences that a group runs across are one snippet. Every group with a character stands in
    exactly one snippet, and its fragments inside it.
    """
    text = document.text
    starts = sentence_starts(document)
    spans = []
    for index, fragments in enumerate(marked):
        if fragments:
            start, end = min(a for a, _ in fragments), max(b for _, b in fragments)
            first, last = sentence_at(starts, start), sentence_at(starts, max(start, end - 1))
            spans.append((first, last, start, end, index))
    merged: list[list[tuple[int, int, int, int, int]]] = []
    reach = -1
    for span in sorted(spans):
        if span[0] > reach:
            merged.append([])
        merged[-1].append(span)
        reach = max(reach, span[1])
    shown = []
    for group in merged:
        first, last = group[0][0], max(span[1] for span in group)
        start = starts[first] if first < len(starts) else 0
        after = starts[last + 1] if last + 1 < len(starts) else len(text)
        end = start + len(text[start:after].rstrip())
        shown.append(
            Snippet(
                start=min(start, *(span[2] for span in group)),
                end=max(end, *(span[3] for span in group)),
                members=tuple(sorted(span[4] for span in group)),
                sentences=last - first + 1,
            )
        )
    return Snippets(tuple(shown), max(len(starts) - sum(p.sentences for p in shown), 0))
