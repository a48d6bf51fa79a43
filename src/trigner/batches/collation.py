"""Sentences of different length become one padded batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trigner.batches.pieces import SentencePieces

Integers = NDArray[np.int64]

IGNORED = -100
"""Target of padded cells: no loss is taken there."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What a tagger reads.

    `piece_ids`, `attention_mask` `[B, P]`; `word_pieces [B, L, K]`, positions of each word's
    pieces, -1 for none; `lengths [B]`, words of each sentence, special words included.
    """

    piece_ids: Integers
    attention_mask: Integers
    word_pieces: Integers
    lengths: Integers


def collate(sentences: Sequence[SentencePieces], *, padding_id: int) -> Batch:
    """One batch of at least one sentence; the encoder's pieces are padded with `padding_id`."""
    lengths = np.array([len(s.word_pieces) for s in sentences], dtype=np.int64)
    pieces = max(len(s.ids) for s in sentences)
    width = max(s.word_pieces.shape[1] for s in sentences)
    piece_ids = np.full((len(sentences), pieces), padding_id, dtype=np.int64)
    attention_mask = np.zeros_like(piece_ids)
    word_pieces = np.full((len(sentences), int(lengths.max()), width), -1, dtype=np.int64)
    for row, sentence in enumerate(sentences):
        piece_ids[row, : len(sentence.ids)] = sentence.ids
        attention_mask[row, : len(sentence.ids)] = 1
        words, own_width = sentence.word_pieces.shape
        word_pieces[row, :words, :own_width] = sentence.word_pieces
    return Batch(piece_ids, attention_mask, word_pieces, lengths)


def pad_grids(grids: Sequence[Integers], *, offset: int = 0) -> Integers:
    """Tags `[B, L, L]` from tags of each sentence `[L_b, L_b]`.

    `offset` special words come before each sentence's own: their rows and columns are class 0 (the
    scheme's NONE). Padded cells hold `IGNORED`.
    """
    length = max(len(grid) for grid in grids) + offset
    padded = np.full((len(grids), length, length), IGNORED, dtype=np.int64)
    for row, grid in enumerate(grids):
        own = len(grid) + offset
        padded[row, :own, :own] = 0
        padded[row, offset:own, offset:own] = grid
    return padded
