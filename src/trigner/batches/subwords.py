"""Words become the subwords of an encoder's tokenizer, word by word.

Only the `tokenizers` library is used, so training and the torch-free runtime share this path.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from tokenizers import Encoding, Tokenizer

from trigner.arrays import SmallIntegers, small
from trigner.errors import InputError

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

    ids: SmallIntegers
    word_subwords: SmallIntegers
    truncated: int = 0


class SubwordTokenizer:
    """Cuts ready words into subwords; `special_words` are put before every sentence.

    With `blank` each word is read as behind a blank, which some tokenizers do not think of.
    """

    def __init__(
        self, tokenizer: Tokenizer, special_words: Sequence[str] = (), *, blank: bool = False
    ) -> None:
        # A copy: files of sentence encoders come with truncation and padding switched on, which
        # would lose words without a word about it.
        self._tokenizer = Tokenizer.from_str(tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.special_words = tuple(special_words)
        self._before = " " if blank else ""
        unknown = [w for w in self.special_words if self._tokenizer.token_to_id(w) is None]
        if unknown:
            raise ValueError(f"the tokenizer does not know the special words {unknown}")

    @cached_property
    def _separator(self) -> list[str]:
        """The tokenizer's own mark at the end of a sentence, if it has one."""
        [ids] = (own.ids for own in self._encoded([[]]))
        return [str(self._tokenizer.id_to_token(ids[-1]))] if ids else []

    @property
    def overhead(self) -> int:
        """Subwords that every sentence has besides its own words'."""
        [encoding] = self._encoded([[*self.special_words]])
        return len(encoding.ids)

    def __call__(
        self, sentences: Sequence[Sequence[str]], *, most: int = MAX_SUBWORDS_PER_WORD
    ) -> list[SentenceSubwords]:
        """The subwords of each sentence of ready words; of one word at most `most`."""
        inputs = [
            [*self.special_words, *(self._before + word for word in readable(words))]
            for words in sentences
        ]
        encodings = self._encoded(inputs)
        return [_aligned(e, len(words), most) for e, words in zip(encodings, inputs, strict=True)]

    def _encoded(self, inputs: list[list[str]]) -> list[Encoding]:
        """What the tokenizer makes of words. Raises InputError when it cannot."""
        try:
            return self._tokenizer.encode_batch(inputs, is_pretokenized=True)
        except BaseException as error:
            # The library raises bare Exception, and of Rust's panics what is not even that.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise InputError(f"the tokenizer cannot cut words into subwords: {error}") from error

    def in_context(
        self,
        sentences: Sequence[tuple[Sequence[str], Sequence[str], Sequence[str]]],
        *,
        limit: int,
        most: int = MAX_SUBWORDS_PER_WORD,
    ) -> list[SentenceSubwords]:
        """The same of sentences with the words on their left and right, which are read along.

        Each is (left, words, right). Between them stands the tokenizer's own separator. Beyond
        `limit` subwords the words farthest from the sentence are left out, of the side that has
        more; the sentence itself fits. `word_subwords` are those of the sentence alone.
        """
        inputs, owns = [], []
        for left, words, right in sentences:
            before = [*readable(left), *self._separator] if left else []
            behind = [*self._separator, *readable(right)] if right else []
            start = len(self.special_words) + len(before)
            inputs.append([*self.special_words, *before, *readable(words), *behind])
            owns.append((start, start + len(words)))
        encodings = self._encoded(inputs)
        first = len(self.special_words)
        return [
            _without_context(_aligned(encoding, len(words), most), first, *own, limit)
            for encoding, words, own in zip(encodings, inputs, owns, strict=True)
        ]


def readable(words: Sequence[str]) -> list[str]:
    """The words as tokenizers can read them: lone surrogates become the replacement character."""
    if not _UNENCODABLE.search("".join(words)):
        return [*words]
    return [_UNENCODABLE.sub("\ufffd", word) for word in words]


def _aligned(encoding: Encoding, length: int, most: int) -> SentenceSubwords:
    ids = np.array(encoding.ids, dtype=np.int32)
    owners = np.array([-1 if w is None else w for w in encoding.word_ids], dtype=np.int32)
    # A word's subwords stand side by side: a subword's index in its word is its distance from the
    # first subword that has the same owner.
    is_first = np.ones(len(owners), dtype=bool)
    is_first[1:] = owners[1:] != owners[:-1]
    runs = is_first.nonzero()[0]
    indices = np.arange(len(ids)) - runs[is_first.cumsum() - 1]
    indices[owners < 0] = 0
    truncated = 0
    if indices.max(initial=0) >= most:
        seen = indices < most
        truncated = len(set(owners[~seen].tolist()))
        ids, owners, indices = ids[seen], owners[seen], indices[seen]
    positions = (owners >= 0).nonzero()[0]
    width = int(indices.max(initial=0)) + 1
    word_subwords = np.full((length, width), -1, dtype=np.int32)
    word_subwords[owners[positions], indices[positions]] = positions
    return SentenceSubwords(small(ids), small(word_subwords), truncated)


def _without_context(
    whole: SentenceSubwords, first: int, start: int, stop: int, limit: int
) -> SentenceSubwords:
    """What a sentence has of its subwords in context, which are at most `limit` afterwards.

    The words `first` to `start` are its left context, those from `stop` its right one, the
    separators included, which go when nothing else of their side is left.
    """
    rows = whole.word_subwords
    ids, own = whole.ids, np.concatenate((rows[:first], rows[start:stop]))
    excess = len(ids) - limit
    if excess > 0:
        counts = (rows >= 0).sum(axis=1)
        left, right = counts[first:start].tolist(), counts[stop:].tolist()[::-1]  # farthest first
        dropped = [0, 0]
        while excess > 0:
            side = 0 if sum(left) > sum(right) else 1
            sizes = (left, right)[side]
            for _ in range(2 if len(sizes) == 2 else 1):
                excess -= sizes.pop(0)
                dropped[side] += 1
        kept = np.ones(len(ids), dtype=bool)
        for gone in (rows[first : first + dropped[0]], rows[len(rows) - dropped[1] :]):
            kept[gone[gone >= 0]] = False
        moved = kept.cumsum() - 1
        ids, own = ids[kept], np.where(own >= 0, moved[own], -1)
    width = max(1, int((own >= 0).sum(axis=1).max(initial=0)))
    return SentenceSubwords(ids, small(own[:, :width]), whole.truncated)
