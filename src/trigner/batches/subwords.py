"""Words become the subwords of an encoder's tokenizer, word by word.

Only the `tokenizers` library is used, so training and the torch-free runtime share this path.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tokenizers import Encoding, Tokenizer

from trigner.arrays import Integers

POS, NEG = "[POS]", "[NEG]"
SPECIAL_WORDS = (POS, NEG)
"""The two words TriG-NER puts before each sentence (paper, section 3); their cells `(0, 0)` and
`(1, 1)` stand in for a missing positive or negative."""

# What UTF-8 cannot hold, and so no tokenizer reads: halves of characters.
_UNENCODABLE = re.compile("[\ud800-\udfff]")

MAX_SUBWORDS_PER_WORD = 64
"""A longer word (an encoded file, say) is represented by its first subwords, so that no single word
exceeds an encoder's limit. The word itself and its characters stay."""


@dataclass(frozen=True, slots=True)
class SentenceSubwords:
    """One sentence as subwords.

    `ids [P]` with the tokenizer's own start and end; `word_subwords [L, K]` the positions in `ids`
    of each word's subwords, -1 where a word has fewer than `K` (all -1: a word without subwords).
    `L` counts special words too. `truncated` counts words of more subwords than a word may have,
    whose other subwords the encoder does not see.
    """

    ids: Integers
    word_subwords: Integers
    truncated: int = 0


class SubwordTokenizer:
    """Cuts ready words into subwords; `special_words` are put before every sentence."""

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
        """Subwords that every sentence has beside its own words'."""
        return len(self._tokenizer.encode([*self.special_words], is_pretokenized=True).ids)

    def __call__(
        self, sentences: Sequence[Sequence[str]], *, most: int = MAX_SUBWORDS_PER_WORD
    ) -> list[SentenceSubwords]:
        """The subwords of each sentence of ready words; of one word at most `most`."""
        inputs = [[*self.special_words, *readable(words)] for words in sentences]
        encodings = self._tokenizer.encode_batch(inputs, is_pretokenized=True)
        return [_aligned(e, len(words), most) for e, words in zip(encodings, inputs, strict=True)]


def readable(words: Sequence[str]) -> list[str]:
    """The words as tokenizers can read them: lone surrogates become the replacement character."""
    return [_UNENCODABLE.sub("\ufffd", word) for word in words]


def _aligned(encoding: Encoding, length: int, most: int) -> SentenceSubwords:
    ids = np.array(encoding.ids, dtype=np.int64)
    owners = np.array([-1 if w is None else w for w in encoding.word_ids], dtype=np.int64)
    # A word's subwords stand side by side: a subword's index in its word is its distance from the
    # first subword that has the same owner.
    runs = np.flatnonzero(np.diff(owners, prepend=-2))
    indices = np.arange(len(ids)) - np.repeat(runs, np.diff(runs, append=len(ids)))
    indices[owners < 0] = 0
    seen = indices < most
    truncated = len(set(owners[~seen].tolist()))
    ids, owners, indices = ids[seen], owners[seen], indices[seen]
    positions = np.flatnonzero(owners >= 0)
    width = int(indices.max(initial=0)) + 1
    word_subwords = np.full((length, width), -1, dtype=np.int64)
    word_subwords[owners[positions], indices[positions]] = positions
    return SentenceSubwords(ids, word_subwords, truncated)
