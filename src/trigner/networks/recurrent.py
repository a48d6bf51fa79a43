"""Word states in context: one bidirectional LSTM layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class BiLstm(nn.Module):
    """One BiLSTM layer of `size` features (half a direction); padding does not reach the words."""

    def __init__(self, *, input_size: int, size: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.lstm = nn.LSTM(input_size, size // 2, bidirectional=True, batch_first=True)

    def forward(self, word_states: Tensor, lengths: Tensor) -> Tensor:
        """`H [B, L, size]` from word states `[B, L, D]`; zero in padding."""
        packed = pack_padded_sequence(
            self.dropout(word_states), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        # The LSTM runs in full precision: its kernels for CPU and bfloat16 differ between versions.
        with torch.autocast(word_states.device.type, enabled=False):
            output, _ = self.lstm(packed._replace(data=packed.data.float()))
        states, _ = pad_packed_sequence(output, batch_first=True, total_length=word_states.shape[1])
        return states
