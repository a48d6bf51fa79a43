"""Words become the pieces of an encoder's tokenizer, word by word.

Only the `tokenizers` library is used, so training and the torch-free runtime share this path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

Integers = NDArray[np.int64]

POS, NEG = "[POS]", "[NEG]"
SPECIAL_WORDS = (POS, NEG)
"""The two words TriG-NER puts before each sentence (paper, section 3); their cells `(0, 0)` and
`(1, 1)` stand in for a missing positive or negative."""


@dataclass(frozen=True, slots=True)
class SentencePieces:
    """One sentence as pieces.

    `ids [P]` with the tokenizer's own start and end; `word_pieces [L, K]` the positions in `ids`
    of each word's pieces, -1 where a word has fewer than `K` (all -1: a word without pieces).
    `L` counts special words too.
    """

    ids: Integers
    word_pieces: Integers


class WordPieces:
    """Cuts ready words into pieces; `special_words` are put before every sentence."""

    def __init__(self, tokenizer: Tokenizer, special_words: Sequence[str] = ()) -> None:
        # A copy: files of sentence encoders come with truncation and padding switched on, which
        # would lose words without a word about it.
        self._tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.special_words = tuple(special_words)
        unknown = [w for w in self.special_words if self._tokenizer.token_to_id(w) is None]
        if unknown:
            raise ValueError(f"the tokenizer does not know the special words {unknown}")

    @property
    def overhead(self) -> int:
        """Pieces that every sentence has beside its own words'."""
        return len(self._tokenizer.encode([*self.special_words], is_pretokenized=True).ids)

    def __call__(self, sentences: Sequence[Sequence[str]]) -> list[SentencePieces]:
        """The pieces of each sentence, given as words. Nothing is truncated."""
        inputs = [[*self.special_words, *words] for words in sentences]
        encodings = self._tokenizer.encode_batch(inputs, is_pretokenized=True)
        return [_aligned(e, len(words)) for e, words in zip(encodings, inputs, strict=True)]

    def counts(self, words: Sequence[str]) -> Integers:
        """Number of pieces of each word `[L]`, special words not included."""
        (pieces,) = self([words])
        counts: Integers = (pieces.word_pieces[len(self.special_words) :] >= 0).sum(axis=1)
        return counts


def _aligned(encoding: Encoding, length: int) -> SentencePieces:
    owners = np.array([-1 if w is None else w for w in encoding.word_ids], dtype=np.int64)
    positions = np.flatnonzero(owners >= 0)
    owners = owners[positions]
    counts = np.bincount(owners, minlength=length)
    # Pieces of one word stand side by side, so a piece's place in its word is its distance from
    # the word's first piece.
    firsts = np.searchsorted(owners, owners, side="left")
    word_pieces = np.full((length, max(1, int(counts.max(initial=0)))), -1, dtype=np.int64)
    word_pieces[owners, np.arange(len(owners)) - firsts] = positions
    return SentencePieces(np.array(encoding.ids, dtype=np.int64), word_pieces)
