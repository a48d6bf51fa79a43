"""What the output can point at in a sentence: words, ends of segments, or subwords.

A pointer's target is a subword of a word (paper, section 3.3): of `word` the first, of `span` the
first of a segment's first word and the last of its last, of `bpe` every one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from trigner.arrays import Booleans, Integers
from trigner.families.seq2seq.settings import Representation


@dataclass(frozen=True, eq=False)
class Pointers:
    """The pointers `0..U-1` of one sentence and how they follow each other within a mention.

    `word [U]` is the word of each, `column [U]` which of its subwords. A mention begins with a
    pointer that `opens` and ends with one that `closes`. Behind pointer `u` may come those from
    `low[u]` to `high[u]`, both inclusive, that open if `u` closes, and else those that do not.
    """

    representation: Representation
    word: Integers
    column: Integers
    opens: Booleans
    closes: Booleans
    low: Integers
    high: Integers

    def __len__(self) -> int:
        return len(self.word)

    @property
    def words(self) -> int:
        """Words of the sentence."""
        return int(self.word[-1]) + 1 if len(self) else 0

    def of(self, words: Sequence[int]) -> tuple[int, ...]:
        """The pointers of a mention's increasing words."""
        if self.representation == "word":
            return tuple(words)
        if self.representation == "bpe":
            bounds = np.searchsorted(self.word, [words, [word + 1 for word in words]])
            return tuple(u for start, stop in bounds.T.tolist() for u in range(start, stop))
        starts = [w for w in words if w - 1 not in words]
        ends = [w for w in words if w + 1 not in words]
        return tuple(
            u for start, end in zip(starts, ends, strict=True) for u in (2 * start, 2 * end + 1)
        )

    def words_of(self, pointers: Sequence[int]) -> tuple[int, ...] | None:
        """The words of a mention written so; None if it is malformed.

        Malformed are empty ones and those whose pointers do not increase, of `span` those that are
        not pairs, of `bpe` those that lack a subword of a word.
        """
        if not self.well_formed(pointers):
            return None
        if self.representation == "span":
            pairs = zip(pointers[::2], pointers[1::2], strict=True)
            return tuple(w for start, end in pairs for w in range(start // 2, end // 2 + 1))
        return tuple(dict.fromkeys(self.word[list(pointers)].tolist()))

    def well_formed(self, pointers: Sequence[int]) -> bool:
        """Whether these are the pointers of a mention, from the first to the last."""
        if not pointers or not self.opens[pointers[0]] or not self.closes[pointers[-1]]:
            return False
        return all(
            self.low[a] <= b <= self.high[a] and self.closes[a] == self.opens[b]
            for a, b in pairwise(pointers)
        )


def point(representation: Representation, subwords: Sequence[int]) -> Pointers:
    """The pointers of a sentence whose words have these numbers of subwords.

    A word without subwords is pointed at nevertheless, as if it had one.
    """
    counts = np.maximum(np.asarray(subwords, dtype=np.int64), 1)
    length = len(counts)
    if representation == "bpe":
        word = np.repeat(np.arange(length), counts)
        column = np.arange(len(word)) - np.repeat(np.cumsum(counts) - counts, counts)
        opens, closes = column == 0, column == counts[word] - 1
    elif representation == "span":
        word = np.repeat(np.arange(length), 2)
        opens = np.arange(2 * length) % 2 == 0
        column, closes = np.where(opens, 0, counts[word] - 1), ~opens
    else:
        word = np.arange(length)
        column = np.zeros(length, dtype=np.int64)
        opens = closes = np.ones(length, dtype=np.bool_)
    pointers = np.arange(len(word))
    low, high = pointers + 1, np.full(len(word), len(word) - 1)
    if representation == "span":
        # Segments that touch would be one: a mention has one way to be written.
        low = np.where(closes, pointers + 3, low)
    elif representation == "bpe":
        high = np.where(closes, high, low)
    return Pointers(representation, word, column, opens, closes, low, high)
