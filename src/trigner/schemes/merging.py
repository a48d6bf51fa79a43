"""Pieces of mentions, and the rules that merge them into mentions again.

A head (H) is a piece that several mentions share, a part (D) a piece of one mention alone. All
functions here take the pieces of one label in one sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from trigner.schemes.chain import Segment
from trigner.schemes.scheme import Words


class Kind(IntEnum):
    """The kind of a piece; the numbers are those of segments in `biohd`'s tags."""

    PLAIN = 0
    HEAD = 1
    PART = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """Words `first` to `last`, all in the same mentions: `owners` are indices of these."""

    kind: Kind
    first: int
    last: int
    owners: frozenset[int]


def pieces_of(mentions: Sequence[Words]) -> list[Piece]:
    """The pieces of distinct mentions, in order of their words."""
    owners: dict[int, set[int]] = {}
    for number, words in enumerate(mentions):
        for word in words:
            owners.setdefault(word, set()).add(number)
    complex_ = {
        number
        for number, words in enumerate(mentions)
        if words[-1] - words[0] >= len(words) or any(len(owners[word]) > 1 for word in words)
    }
    found: list[Piece] = []
    for word in sorted(owners):
        own = frozenset(owners[word])
        if found and found[-1].last == word - 1 and found[-1].owners == own:
            found[-1] = Piece(found[-1].kind, found[-1].first, word, own)
        else:
            kind = Kind.HEAD if len(own) > 1 else Kind.PART if own <= complex_ else Kind.PLAIN
            found.append(Piece(kind, word, word, own))
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
    """The nearest head to the left (1) or right (2), or part to the left (3) or right (4)."""
    others = heads if digit in (1, 2) else parts
    if digit in (1, 3):
        return max((s for s in others if s.last < part.first), key=_first, default=None)
    return min((s for s in others if s.first > part.last), key=_first, default=None)


def words_of(*pieces: Segment) -> Words:
    """All words of some segments, increasing."""
    return tuple(sorted(w for piece in pieces for w in range(piece.first, piece.last + 1)))


def _first(segment: Segment) -> int:
    return segment.first


def _between(one: Segment, other: Segment) -> int:
    """Words between two segments."""
    (_, end), (start, _) = sorted([(one.first, one.last), (other.first, other.last)])
    return start - end - 1
