"""What is not correct, grouped from the definitions: all offers are looked at again each time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trigner.evaluation.comparison import Kind
from trigner.evaluation.scores import Key
from trigner.mentions import Fragment


def naive_groups(left: list[Key], right: list[Key]) -> Iterator[tuple[Kind, list[Key], list[Key]]]:
    """What is not correct, grouped; takes from both lists what it has yielded."""
    for mine, other in _same_characters(left, right):
        yield "type", [mine], [other]
    for whole, pieces in _wholes(left, right):
        yield "split", [whole], pieces
    for whole, pieces in _wholes(right, left):
        yield "joined", pieces, [whole]
    for mine, other in _overlapping(left, right):
        yield "boundary", [mine], [other]
    for key in left:
        yield "missed", [key], []
    for key in right:
        yield "spurious", [], [key]


def _same_characters(left: list[Key], right: list[Key]) -> list[tuple[Key, Key]]:
    by_fragments: dict[tuple[Fragment, ...], list[Key]] = {}
    for key in right:
        by_fragments.setdefault(key[1], []).append(key)
    pairs = []
    for key in list(left):
        if by_fragments.get(key[1]):
            other = by_fragments[key[1]].pop(0)
            pairs.append((key, other))
            left.remove(key)
            right.remove(other)
    return pairs


def _wholes(wholes: list[Key], pieces: list[Key]) -> list[tuple[Key, list[Key]]]:
    """Wholes with at least two disjoint pieces of their label inside them, best covered first.

    A piece belongs to one whole only.
    """
    found: list[tuple[Key, list[Key]]] = []
    while True:
        offers = [(whole, _inside(whole, pieces)) for whole in wholes]
        offers = [offer for offer in offers if len(offer[1]) > 1]
        if not offers:
            return found
        whole, parts = max(offers, key=_covered)
        found.append((whole, parts))
        wholes.remove(whole)
        for part in parts:
            pieces.remove(part)


def _covered(offer: tuple[Key, list[Key]]) -> float:
    """Share of the whole's characters that its pieces have."""
    whole, parts = offer
    return sum(_size(part[1]) for part in parts) / _size(whole[1])


def _inside(whole: Key, pieces: Sequence[Key]) -> list[Key]:
    """Pieces of the whole's label inside its characters; of overlapping ones the larger."""
    chosen: list[Key] = []
    fitting = [p for p in pieces if p[0] == whole[0] and _shared(p[1], whole[1]) == _size(p[1]) > 0]
    for piece in sorted(fitting, key=lambda p: (-_size(p[1]), p)):
        if not any(_shared(piece[1], other[1]) for other in chosen):
            chosen.append(piece)
    return sorted(chosen, key=lambda p: p[1])


def _overlapping(left: list[Key], right: list[Key]) -> list[tuple[Key, Key]]:
    """Pairs of one label that share characters, those that share most of theirs first."""
    offers = []
    for mine in left:
        for other in right:
            shared = _shared(mine[1], other[1]) if mine[0] == other[0] else 0
            if shared:
                union = _size(mine[1]) + _size(other[1]) - shared
                offers.append((-shared / union, mine, other))
    pairs = []
    for _, mine, other in sorted(offers):
        if mine in left and other in right:
            pairs.append((mine, other))
            left.remove(mine)
            right.remove(other)
    return pairs


def _size(fragments: Sequence[Fragment]) -> int:
    return sum(end - start for start, end in fragments)


def _shared(ours: Sequence[Fragment], theirs: Sequence[Fragment]) -> int:
    """Characters that both have; the fragments of each side do not overlap."""
    return sum(max(0, min(b, d) - max(a, c)) for a, b in ours for c, d in theirs)
