"""Segments of mentions, and the rules that merge them into mentions again.

A head (H) is a segment that several mentions share, a part (D) one of several segments of one
mention. All functions here take the segments of one label in one sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from itertools import groupby

from trigner.schemes.chain import Segment
from trigner.schemes.scheme import Words


class Kind(IntEnum):
    """The kind of a segment, as `biohd`'s tags number them."""

    PLAIN = 0
    HEAD = 1
    PART = 2


def shared_runs(mentions: Sequence[Words]) -> list[tuple[list[int], frozenset[int]]]:
    """Longest runs of neighbouring words that are in the same mentions: words, and the indices of
    these mentions. In order of the words."""
    owners: dict[int, set[int]] = {}
    for number, words in enumerate(mentions):
        for word in words:
            owners.setdefault(word, set()).add(number)
    runs = groupby(enumerate(sorted(owners)), lambda item: (owners[item[1]], item[1] - item[0]))
    return [([word for _, word in run], frozenset(own)) for (own, _), run in runs]


def segments_of(mentions: Sequence[Words]) -> dict[Segment, frozenset[int]]:
    """The segments of distinct mentions, in order, and the indices of the mentions of each."""
    runs = shared_runs(mentions)
    several = {number for _, own in runs if len(own) > 1 for number in own}
    several |= {n for n, words in enumerate(mentions) if words[-1] - words[0] >= len(words)}
    found = {}
    for words, own in runs:
        kind = Kind.HEAD if len(own) > 1 else Kind.PART if own <= several else Kind.PLAIN
        found[Segment(kind, words[0], words[-1])] = own
    return found


def merged(heads: Sequence[Segment], parts: Sequence[Segment]) -> list[Words]:
    """BIOHD's mentions, except plain ones; segments come in order.

    Each part joins the nearest head (of two the left); a head that no part joined is a mention.
    Without heads all parts are one mention.
    """
    if not heads:
        return [words_of(*parts)] if parts else []
    nearest = [min(heads, key=lambda head: (_between(head, p), head.first)) for p in parts]
    found = [words_of(head, part) for head, part in zip(nearest, parts, strict=True)]
    return found + [words_of(head) for head in heads if head not in nearest]


def merged_by_digits(
    heads: Sequence[Segment], parts: Sequence[Segment], digits: Sequence[int]
) -> list[Words]:
    """BIOHD1234's mentions, except plain ones; `digits` are those of the parts.

    Parts linked by 3 and 4, directly or through others, are one mention with all heads that their
    1 and 2 point to. A head that no digit points to is a mention. A digit without a target links
    nothing.
    """
    group = {part: {part} for part in parts}
    own_heads: dict[Segment, Segment] = {}
    for part, digit in zip(parts, digits, strict=True):
        target = pointed_to(digit, part, heads, parts)
        if target is None:
            continue
        if digit in (1, 2):
            own_heads[part] = target
        elif group[part] is not group[target]:
            group[part] |= group[target]
            for member in group[target]:
                group[member] = group[part]
    found = [
        words_of(*members, *{own_heads[m] for m in members if m in own_heads})
        for part, members in group.items()
        if part == min(members, key=lambda segment: segment.first)
    ]
    joined = set(own_heads.values())
    return found + [words_of(head) for head in heads if head not in joined]


def pointed_to(
    digit: int, part: Segment, heads: Sequence[Segment], parts: Sequence[Segment]
) -> Segment | None:
    """The nearest head to the left (1) or right (2), or part to the left (3) or right (4).

    Heads and parts come in order.
    """
    others = heads if digit in (1, 2) else parts
    if digit in (1, 3):
        return next((s for s in reversed(others) if s.last < part.first), None)
    return next((s for s in others if s.first > part.last), None)


def words_of(*segments: Segment) -> Words:
    """All words of some segments, increasing."""
    return tuple(sorted(word for s in segments for word in range(s.first, s.last + 1)))


def _between(one: Segment, other: Segment) -> int:
    """Words between two segments."""
    (_, end), (start, _) = sorted([(one.first, one.last), (other.first, other.last)])
    return start - end - 1
