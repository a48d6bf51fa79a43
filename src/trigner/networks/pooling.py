"""Subwords -> words: element-wise maximum over each word's subwords (W2NER, section 4)."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn


class WordPooling(nn.Module):
    """Maximum over a word's subwords.

    A word without subwords becomes a vector of zeros, or with `empty_word="batch_minimum"` the
    smallest value of the whole batch (W2NER's released code; depends on the batch).
    """

    def __init__(self, *, empty_word: Literal["zeros", "batch_minimum"] = "zeros") -> None:
        super().__init__()
        self.empty_word = empty_word

    def forward(self, subword_states: Tensor, word_subwords: Tensor) -> Tensor:
        """Word states `[B, L, D]` from subword states `[B, P, D]`.

        `word_subwords [B, L, K]` are the positions of each word's subwords, first ones
        first, -1 for none.
        """
        batch, _, width = word_subwords.shape
        present = word_subwords >= 0
        sentence = torch.arange(batch, device=word_subwords.device)[:, None]
        pooled = subword_states[sentence, word_subwords[:, :, 0].clamp(min=0)]
        for k in range(1, width):
            rows, words = present[:, :, k].nonzero(as_tuple=True)
            others = subword_states[rows, word_subwords[rows, words, k]]
            pooled = pooled.index_put((rows, words), torch.maximum(pooled[rows, words], others))
        # Detached, as the released code's is: no gradient comes from words without subwords.
        fill = subword_states.detach().min() if self.empty_word == "batch_minimum" else 0.0
        return torch.where(present[:, :, :1], pooled, fill)
