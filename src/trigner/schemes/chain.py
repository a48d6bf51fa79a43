"""Linear chains: segments of words, each with a tag that begins it and one that continues it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trigner.arrays import Integers
from trigner.schemes.automaton import Arc, Automaton
from trigner.schemes.grammar import NO_TAG, Grammar


def chain(segments: Sequence[tuple[str, str]]) -> Grammar:
    """The grammar of a linear chain, in which only pairs of neighbouring tags are constrained.

    `segments` are pairs of tags, such as B and I: the first begins a segment, the second continues
    it and can follow only one of the two. There is a state for each tag, so that the weight of an
    arc is that of a pair of neighbouring tags.
    """
    tags = ("O", *(tag for segment in segments for tag in segment))
    states = ("start", *tags)
    begins = [0, *range(1, len(tags), 2)]
    arcs = [Arc(state, tag, tag + 1) for state in range(len(states)) for tag in begins]
    for begin in begins[1:]:
        arcs += [Arc(tag + 1, begin + 1, begin + 2) for tag in (begin, begin + 1)]
    continued = [NO_TAG] + [begin + 1 for begin in begins[1:] for _ in range(2)]
    return Grammar(
        tags=tags,
        automaton=Automaton(states, tuple(sorted(arcs)), 0, tuple(range(len(states)))),
        continued=tuple(continued),
        exchanged=tuple(range(len(tags))),
        reopened=tuple(range(len(tags))),
    )


@dataclass(frozen=True, slots=True)
class Segment:
    """Words `first` to `last`; `kind` is the index of their pair of tags in `chain`."""

    kind: int
    first: int
    last: int


def segments(tags: Integers) -> list[Segment]:
    """The segments of a chain's tags, in order. A stray continuing tag begins a segment."""
    found: list[Segment] = []
    for word, tag in enumerate(tags.tolist()):
        kind, continues = divmod(tag - 1, 2)
        if tag == 0:
            continue
        before = found[-1] if found else None
        if continues and before is not None and (before.kind, before.last) == (kind, word - 1):
            found[-1] = Segment(kind, before.first, word)
        else:
            found.append(Segment(kind, word, word))
    return found
