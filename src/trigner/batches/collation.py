"""Sentences of different length become one padded batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trigner.arrays import Integers
from trigner.batches.subwords import SentenceSubwords

IGNORED = -100
"""Target of padded words and cells: no loss is taken there."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What a tagger reads.

    `input_ids`, `attention_mask` `[B, P]`; `word_subwords [B, L, K]`, positions of each word's
    subwords, -1 for none; `lengths [B]`, words of each sentence, special words included.
    """

    input_ids: Integers
    attention_mask: Integers
    word_subwords: Integers
    lengths: Integers


def collate(sentences: Sequence[SentenceSubwords], *, padding_id: int) -> Batch:
    """One batch of at least one sentence; the encoder's subwords are padded with `padding_id`."""
    lengths = np.array([len(s.word_subwords) for s in sentences], dtype=np.int64)
    subwords = max(len(s.ids) for s in sentences)
    width = max(s.word_subwords.shape[1] for s in sentences)
    input_ids = np.full((len(sentences), subwords), padding_id, dtype=np.int64)
    attention_mask = np.zeros_like(input_ids)
    word_subwords = np.full((len(sentences), int(lengths.max()), width), -1, dtype=np.int64)
    for row, sentence in enumerate(sentences):
        input_ids[row, : len(sentence.ids)] = sentence.ids
        attention_mask[row, : len(sentence.ids)] = 1
        words, own_width = sentence.word_subwords.shape
        word_subwords[row, :words, :own_width] = sentence.word_subwords
    return Batch(input_ids, attention_mask, word_subwords, lengths)


def pad_tags(tags: Sequence[NDArray[Any]], *, word_axes: int, offset: int = 0) -> NDArray[Any]:
    """Tags of each sentence `[L_b, ...]` as one array `[B, L, ...]`.

    The first `word_axes` axes of a sentence's tags run over its words. `offset` special words
    come before them: theirs is class 0 (the scheme's none). Padding holds `IGNORED`. They may be
    probabilities of tags, too.
    """
    length = max(len(own) for own in tags) + offset
    behind = tags[0].shape[word_axes:]
    padded = np.full((len(tags), *[length] * word_axes, *behind), IGNORED, dtype=tags[0].dtype)
    for row, own in enumerate(tags):
        whole, words = slice(len(own) + offset), slice(offset, len(own) + offset)
        padded[row][(whole,) * word_axes] = 0
        padded[row][(words,) * word_axes] = own
    return padded
