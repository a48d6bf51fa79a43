"""Items of an answer -> words of the sentence: as given, and with three repairs.

Models name the right words and get their indices wrong (TriG-NER, section 5.6). Each repair uses
the item's text to mend its indices; how much that is worth is seen by scoring all side by side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, get_args

from trigner.prompting.parsing import Item

Repair = Literal["strict", "range", "shift", "text"]
REPAIRS: tuple[Repair, ...] = get_args(Repair)
"""In the order of reports."""

SHIFTS = (-1, 1, -2, 2)

Words = Sequence[str]
Chosen = tuple[int, ...]

_PIECE = re.compile(r"\w+|[^\w\s]")


def align(item: Item, words: Words, repair: Repair) -> Chosen | None:
    """Indices of an item's words, strictly increasing; None when it has to be dropped.

    `strict` takes the indices as they are, without repetitions. `range` takes two indices for the
    ends of an interval when the text is all of it and not just these two words, `shift` moves all
    indices by the offset of `SHIFTS` that makes them spell the text, `text` tries `range` and then
    takes the words that spell the text, wherever they stand. What no repair applies to, as it
    spells its text already or cannot be made to, is taken strictly: it is dropped when it has no
    index or one outside the sentence.
    """
    return _ALIGN[repair](item, words)


def spells(words: Words, indices: Sequence[int] | None, text: str | None) -> bool:
    """Whether the words at these indices, in order, are the text; case and punctuation aside."""
    return text is not None and _deviation(words, indices, text) < len(_CUTS)


def spelling(words: Words, text: str, near: Sequence[int]) -> Chosen | None:
    """The increasing sequence of words that spells the text; None when there is none.

    Of several the one with the least sum of each word's distance to the nearest index in `near`
    counts, then the one with the smallest extent, then the leftmost. Case is ignored. Punctuation
    is, when the text is not found with it.
    """
    for cut in _CUTS:
        found = _nearest([cut(word) for word in words], cut(text), near)
        if found is not None:
            return found
    return None


@lru_cache(maxsize=65_536)
def pieces(text: str) -> tuple[str, ...]:
    """Words and single marks of punctuation, without case."""
    return tuple(_PIECE.findall(text.casefold()))


@lru_cache(maxsize=65_536)
def _letters(text: str) -> tuple[str, ...]:
    return tuple(piece for piece in pieces(text) if piece[0].isalnum() or piece[0] == "_")


_CUTS = (pieces, _letters)


def _deviation(words: Words, indices: Sequence[int] | None, text: str) -> int:
    """How far the words at these indices are from being the text: the place in `_CUTS`."""
    if not indices or not all(0 <= index < len(words) for index in indices):
        return len(_CUTS)
    chosen = [words[index] for index in sorted(set(indices))]
    agreeing = (
        place
        for place, cut in enumerate(_CUTS)
        if [piece for word in chosen for piece in cut(word)] == [*cut(text)] != []
    )
    return next(agreeing, len(_CUTS))


def _strict(item: Item, words: Words) -> Chosen | None:
    if item.indices is None or not all(0 <= index < len(words) for index in item.indices):
        return None
    return tuple(sorted(set(item.indices)))


def _range(item: Item, words: Words) -> Chosen | None:
    return _interval(item, words) or _strict(item, words)


def _interval(item: Item, words: Words) -> Chosen | None:
    if item.text is None or item.indices is None or len(item.indices) != 2:
        return None
    first, last = item.indices
    if not 0 <= first < last < len(words):
        return None
    chosen = tuple(range(first, last + 1))
    nearer = _deviation(words, chosen, item.text) < _deviation(words, item.indices, item.text)
    return chosen if nearer else None


def _shift(item: Item, words: Words) -> Chosen | None:
    if item.indices is not None and not spells(words, item.indices, item.text):
        for offset in SHIFTS:
            moved = tuple(sorted({index + offset for index in item.indices}))
            if spells(words, moved, item.text):
                return moved
    return _strict(item, words)


def _text(item: Item, words: Words) -> Chosen | None:
    if (interval := _interval(item, words)) is not None:
        return interval
    if item.text is None or spells(words, item.indices, item.text):
        return _strict(item, words)
    return spelling(words, item.text, item.indices or ()) or _strict(item, words)


_ALIGN: Mapping[Repair, Callable[[Item, Words], Chosen | None]] = {
    "strict": _strict,
    "range": _range,
    "shift": _shift,
    "text": _text,
}


def _nearest(
    words: Sequence[tuple[str, ...]], text: tuple[str, ...], near: Sequence[int]
) -> Chosen | None:
    """`spelling` over words and a text in pieces; a word without pieces is never part of it.

    By dynamic programming: `best[n]` is the best way so far to spell the first `n` pieces, as its
    cost, its first word (the later, the smaller the extent in the end) and its words.
    """
    best: dict[int, tuple[int, int, Chosen]] = {}
    ended: list[tuple[int, int, Chosen]] = []
    for position, added in enumerate(words):
        if not added:
            continue
        distance = min((abs(position - index) for index in near), default=0)
        # From the longest on, so that no word is taken twice.
        for done in (*sorted(best, reverse=True), 0):
            after = done + len(added)
            if text[done:after] != added:
                continue
            cost, first, chosen = best[done] if done else (0, -position, ())
            way = (cost + distance, first, (*chosen, position))
            if after == len(text):
                ended.append((cost + distance, position + first, way[2]))
            else:
                best[after] = min(best.get(after, way), way)
    return min(ended)[2] if ended else None
