"""Whole words hidden for masked language modelling, whatever the tokenizer.

The library's own collator tells words by `##` (4.57) or by touching characters (5.x), and cannot
swap words for others. Here words are those that mentions are made of, cut into subwords just as
for tagging.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from trigner.arrays import Integers
from trigner.batches.subwords import readable
from trigner.errors import InputError

UNSCORED = -100
"""Label of a subword that was not hidden: no loss counts it. Also what `transformers` expects."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Subwords of a sentence, or of a window of one too long for the encoder.

    `ids [P]` with the tokenizer's own start and end; `words [P]` the word of each subword, -1 for
    the tokenizer's own.
    """

    ids: Integers
    words: Integers


@dataclass(frozen=True, slots=True)
class Masked:
    """A passage with words hidden: `ids [P]` to read, `labels [P]` to find (else `UNSCORED`)."""

    ids: Integers
    labels: Integers


@dataclass(frozen=True, slots=True)
class Masking:
    """How words are hidden.

    `probability` of the words of a passage (rounded, at least one) are chosen. Of those,
    `replaced` have all their subwords become the mask, `randomised` become subwords drawn from
    `vocabulary [V]`, the others stay (Devlin et al. 2019, section 3.1; there for subwords).
    """

    probability: float
    replaced: float
    randomised: float
    mask_id: int
    vocabulary: Integers

    def __call__(self, passage: Passage, random: np.random.Generator) -> Masked:
        """Hide words of a passage; what was drawn is up to `random` alone."""
        words = np.unique(passage.words[passage.words >= 0])
        chosen = random.permutation(words)[: max(1, round(self.probability * len(words)))]
        fates = random.random(len(chosen))
        as_mask = np.isin(passage.words, chosen[fates < self.replaced])
        as_other = np.isin(
            passage.words,
            chosen[(fates >= self.replaced) & (fates < self.replaced + self.randomised)],
        )
        ids = passage.ids.copy()
        ids[as_mask] = self.mask_id
        ids[as_other] = random.choice(self.vocabulary, size=int(as_other.sum()))
        labels = np.where(np.isin(passage.words, chosen), passage.ids, UNSCORED)
        return Masked(ids, labels)


def passages(
    sentences: Iterable[Sequence[str]], tokenizer: Tokenizer, max_subwords: int
) -> list[Passage]:
    """Sentences of ready words as passages of at most `max_subwords` subwords; none is truncated.

    A longer sentence becomes several passages, cut between words, or inside a word that alone is
    too long. Words without subwords leave no trace. Raises InputError when `max_subwords` leaves no
    subword besides the tokenizer's own.
    """
    tokenizer = Tokenizer.from_str(tokenizer.to_str())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    found: list[Passage] = []
    for sentence in sentences:
        encoding = tokenizer.encode(readable(sentence), is_pretokenized=True)
        ids = np.array(encoding.ids, dtype=np.int64)
        words = np.array([-1 if w is None else w for w in encoding.word_ids], dtype=np.int64)
        found += _windows(Passage(ids, words), max_subwords)
    return found


def _windows(whole: Passage, max_subwords: int) -> Iterable[Passage]:
    own = np.flatnonzero(whole.words >= 0)
    if not len(own):
        return
    if len(whole.ids) <= max_subwords:
        yield whole
        return
    first, last = int(own[0]), int(own[-1]) + 1
    capacity = max_subwords - first - (len(whole.ids) - last)
    if capacity < 1:
        raise InputError(f"{max_subwords} subwords are too few to hold any word")
    edges = (np.arange(first), np.arange(last, len(whole.ids)))
    start = first
    while start < last:
        stop = min(start + capacity, last)
        if stop < last:
            word_start = first + int(np.searchsorted(whole.words[first:last], whole.words[stop]))
            stop = word_start if word_start > start else stop
        part = np.concatenate([edges[0], np.arange(start, stop), edges[1]])
        yield Passage(whole.ids[part], whole.words[part])
        start = stop


def masking_collator(
    masking: Masking, padding_id: int
) -> Callable[[Sequence[Passage | Masked]], dict[str, Tensor]]:
    """Batches of passages, masked anew each time, or of what was masked once and for all.

    Gives `input_ids`, `attention_mask` and `labels`, each `[B, P]`, and nothing else: segment ids
    default to zeros where a model has them. Randomness comes from torch's global state, which
    the trainer's checkpoints keep.
    """

    def collate(examples: Sequence[Passage | Masked]) -> dict[str, Tensor]:
        random = np.random.default_rng(int(torch.randint(2**62, ())))
        masked = [e if isinstance(e, Masked) else masking(e, random) for e in examples]
        return {
            "input_ids": _padded([m.ids for m in masked], padding_id),
            "attention_mask": _padded([np.ones_like(m.ids) for m in masked], 0),
            "labels": _padded([m.labels for m in masked], UNSCORED),
        }

    return collate


def _padded(rows: Sequence[Integers], value: int) -> Tensor:
    tensors = [torch.from_numpy(row) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=value)
