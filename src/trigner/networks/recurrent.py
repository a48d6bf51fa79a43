"""What reads the words of a sentence: one bidirectional LSTM layer, or layers word by word."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from trigner.networks.dropout import Dropout


class BiLstm(nn.Module):
    """One BiLSTM layer of `size` features (half a direction); padding does not reach the words."""

    def __init__(self, *, input_size: int, size: int, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.lstm = nn.LSTM(input_size, size // 2, bidirectional=True, batch_first=True)

    def forward(self, word_states: Tensor, lengths: Tensor) -> Tensor:
        """`H [B, L, size]` from word states `[B, L, D]`; zero in padding."""
        # The LSTM runs in full precision: its kernels for CPU and bfloat16 differ between versions.
        with torch.autocast(word_states.device.type, enabled=False):
            words = self.dropout(word_states)
            words = words.to(torch.promote_types(words.dtype, torch.float32))
            read = self._padded if words.device.type == "cpu" else self._packed
            return read(words, lengths)

    def _packed(self, words: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(words, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, total_length=words.shape[1]
        )
        return states

    def _padded(self, words: Tensor, lengths: Tensor) -> Tensor:
        """The same with the fused kernel of a CPU, which knows no packed sequences.

        Each direction reads the sentences from its own end, so that padding comes last.
        """
        positions = torch.arange(words.shape[1])
        inside = positions < lengths[:, None]
        turned = torch.where(inside, lengths[:, None] - 1 - positions, positions)[:, :, None]
        forth = self._read(words, "")
        back = self._read(words.gather(1, turned.expand_as(words)), "_reverse")
        back = back.gather(1, turned.expand_as(back))
        return torch.cat([forth, back], dim=2).masked_fill(~inside[:, :, None], 0.0)

    def _read(self, words: Tensor, direction: str) -> Tensor:
        """Outputs `[B, L, size / 2]` of one direction from words in the order that it reads."""
        names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
        weights = [getattr(self.lstm, name + direction) for name in names]
        start = words.new_zeros(1, len(words), self.lstm.hidden_size)
        outputs, _, _ = torch.lstm(
            words, (start, start), weights, True, 1, 0.0, self.training, False, True
        )
        return outputs


class WordByWord(nn.Module):
    """Layers that see one word at a time, to whom the lengths of sentences are nothing."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """`[B, L, size]` from word vectors `[B, L, D]`."""
        states: Tensor = self.layers(words)
        return states
