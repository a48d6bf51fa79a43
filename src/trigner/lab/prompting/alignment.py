"""Aligns the items of an answer with words of the sentence: as given, and with three repairs.

Models often name the right words with wrong indices (TriG-NER, section 5.6). Each repair uses the
item's text to correct its indices; scoring all of them side by side shows what that is worth.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, get_args

from trigner.lab.prompting.parsing import Item

Repair = Literal["strict", "range", "shift", "text"]
REPAIRS: tuple[Repair, ...] = get_args(Repair)
"""In the order of the reports."""

SHIFTS = (-1, 1, -2, 2)

_TOKEN = re.compile(r"\w+|[^\w\s]")


def align(item: Item, words: Sequence[str], repair: Repair) -> tuple[int, ...] | None:
    """Indices of an item's words, strictly increasing; None when the item has to be dropped.

    `strict` takes the indices as they are, without repetitions. `range` takes two indices as the
    ends of an interval when the text is the whole interval and not just these two words. `shift`
    moves all indices by the first offset of `SHIFTS` with which they match the text. `text` tries
    `range`, then the words that match the text anywhere in the sentence. An item that needs no
    repair or that cannot be repaired is taken strictly: dropped if it has no index or one outside
    the sentence.
    """
    return _ALIGN[repair](item, words)


def matches_text(words: Sequence[str], indices: Sequence[int] | None, text: str | None) -> bool:
    """Whether the words at these indices, in order, are the text; case and punctuation aside."""
    return text is not None and _mismatch(words, indices, text) < len(_TOKENIZERS)


def find_text(words: Sequence[str], text: str, near: Sequence[int]) -> tuple[int, ...] | None:
    """Increasing indices of the words that make up the text; None when there are none.

    Of several the one with the least sum of each word's distance to the nearest index in `near` is
    taken, then the one with the smallest extent, then the leftmost. Case is ignored; punctuation
    only when the text is not found with it.
    """
    for tokenize in _TOKENIZERS:
        found = _nearest([tokenize(word) for word in words], tokenize(text), near)
        if found is not None:
            return found
    return None


@lru_cache(maxsize=65_536)
def tokens(text: str) -> tuple[str, ...]:
    """Words and single punctuation marks, casefolded."""
    return tuple(_TOKEN.findall(text.casefold()))


@lru_cache(maxsize=65_536)
def _word_tokens(text: str) -> tuple[str, ...]:
    return tuple(token for token in tokens(text) if token[0].isalnum() or token[0] == "_")


_TOKENIZERS = (tokens, _word_tokens)


def _mismatch(words: Sequence[str], indices: Sequence[int] | None, text: str) -> int:
    """0 when the words at these indices are the text, 1 when they are without punctuation, or 2."""
    if not indices or not all(0 <= index < len(words) for index in indices):
        return len(_TOKENIZERS)
    chosen = [words[index] for index in sorted(set(indices))]
    matching = (
        level
        for level, tokenize in enumerate(_TOKENIZERS)
        if [token for word in chosen for token in tokenize(word)] == [*tokenize(text)] != []
    )
    return next(matching, len(_TOKENIZERS))


def _strict(item: Item, words: Sequence[str]) -> tuple[int, ...] | None:
    if item.indices is None or not all(0 <= index < len(words) for index in item.indices):
        return None
    return tuple(sorted(set(item.indices)))


def _range(item: Item, words: Sequence[str]) -> tuple[int, ...] | None:
    return _interval(item, words) or _strict(item, words)


def _interval(item: Item, words: Sequence[str]) -> tuple[int, ...] | None:
    if item.text is None or item.indices is None or len(item.indices) != 2:
        return None
    first, last = item.indices
    if not 0 <= first < last < len(words):
        return None
    chosen = tuple(range(first, last + 1))
    better = _mismatch(words, chosen, item.text) < _mismatch(words, item.indices, item.text)
    return chosen if better else None


def _shift(item: Item, words: Sequence[str]) -> tuple[int, ...] | None:
    if item.indices is not None and not matches_text(words, item.indices, item.text):
        for offset in SHIFTS:
            moved = tuple(sorted({index + offset for index in item.indices}))
            if matches_text(words, moved, item.text):
                return moved
    return _strict(item, words)


def _text(item: Item, words: Sequence[str]) -> tuple[int, ...] | None:
    if (interval := _interval(item, words)) is not None:
        return interval
    if item.text is None or matches_text(words, item.indices, item.text):
        return _strict(item, words)
    return find_text(words, item.text, item.indices or ()) or _strict(item, words)


_ALIGN: Mapping[Repair, Callable[[Item, Sequence[str]], tuple[int, ...] | None]] = {
    "strict": _strict,
    "range": _range,
    "shift": _shift,
    "text": _text,
}


def _nearest(
    words: Sequence[tuple[str, ...]], text: tuple[str, ...], near: Sequence[int]
) -> tuple[int, ...] | None:
    """`find_text` over words and a text in tokens; a word without tokens is never part of it.

    By dynamic programming: `best[n]` is the best way so far to match the first `n` tokens, as its
    cost, its first word (the later, the smaller the extent in the end) and its words.
    """
    best: dict[int, tuple[int, int, tuple[int, ...]]] = {}
    ended: list[tuple[int, int, tuple[int, ...]]] = []
    for position, added in enumerate(words):
        if not added:
            continue
        distance = min((abs(position - index) for index in near), default=0)
        # Longest first, so that no word is taken twice.
        for done in (*sorted(best, reverse=True), 0):
            after = done + len(added)
            if text[done:after] != added:
                continue
            cost, first, chosen = best[done] if done else (0, -position, ())
            path = (cost + distance, first, (*chosen, position))
            if after == len(text):
                ended.append((cost + distance, position + first, path[2]))
            else:
                best[after] = min(best.get(after, path), path)
    return min(ended)[2] if ended else None
