"""Spans of words as the state of one LSTM that starts with their first word (MAC, section 3).

All starts advance together: after `t` steps each has read the span of `t + 1` words from itself on.
What the LSTM makes of a word's own features is computed once a word, not once a span.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional


class SpanLstm(nn.Module):
    """One LSTM of `size` features, run from each word on over at most `reach` words.

    A longer span has the state of its first `reach` words. None: there is no such bound.
    """

    def __init__(self, *, input_size: int, size: int, reach: int | None) -> None:
        super().__init__()
        self.reach = reach
        self.lstm = nn.LSTM(input_size, size, batch_first=True)

    def forward(self, words: Tensor, lengths: Tensor, read: Tensor) -> Tensor:
        """`read [C, size]` applied to the states of all spans: `[B, L, R, C]`.

        From word states `[B, L, D]`, by first word and words behind it, of which there are at most
        `R`, the smaller of `L` and `reach`. Spans that reach into padding are meaningless.
        The states themselves, `[B, L, R, size]`, never exist at once but for their gradients.
        """
        count = min(words.shape[1], self.reach or words.shape[1])
        # In full precision, as every LSTM here.
        with torch.autocast(words.device.type, enabled=False):
            words, read = words.float(), read.float()
            scores = [state @ read.t() for state in self._diagonals(words, count)]
        # Later spans start with fewer words: the last ones have none.
        padded = [functional.pad(own, (0, 0, 0, step)) for step, own in enumerate(scores)]
        return torch.stack(padded, dim=2)

    def states_at(self, words: Tensor, sentences: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        """States `[N, size]` of spans from `rows` to `columns`, `[N]` each; zeros for none."""
        length = words.shape[1]
        steps = (columns - rows).clamp(max=(self.reach or length) - 1)
        starts, own = torch.unique(sentences * length + rows, return_inverse=True)
        longest = torch.full_like(starts, -1).scatter_reduce(0, own, steps, "amax")
        # The longest first: those that are done are then always the last.
        longest, order = longest.sort(descending=True)
        position = torch.empty_like(order)
        position[order] = torch.arange(len(order), device=order.device)
        starts, own = starts[order], position[own]
        with torch.autocast(words.device.type, enabled=False):
            gates = self._gates(words.float()).flatten(0, 1)
            found = gates.new_zeros(len(rows), self.lstm.hidden_size)
            hidden = cell = gates.new_zeros(0, 0)
            for step in range(int(longest.max()) + 1 if len(rows) else 0):
                active = int((longest >= step).sum())
                taken = gates[starts[:active] + step]
                before = (hidden[:active], cell[:active]) if step else None
                hidden, cell = self._step(taken, before)
                (ends,) = (steps == step).nonzero(as_tuple=True)
                found = found.index_put((ends,), hidden[own[ends]])
        return found

    def _diagonals(self, words: Tensor, count: int) -> Iterator[Tensor]:
        """States `[B, L - t, size]` of the spans of `t + 1` words, `t` from 0 to `count` - 1."""
        gates = self._gates(words)
        hidden, cell = self._step(gates, None)
        yield hidden
        for step in range(1, count):
            hidden, cell = self._step(gates[:, step:], (hidden[:, :-1], cell[:, :-1]))
            yield hidden

    def _gates(self, words: Tensor) -> Tensor:
        """What words add to the gates, `[..., 4 * size]`."""
        bias = self._weight("bias_ih_l0") + self._weight("bias_hh_l0")
        return functional.linear(words, self._weight("weight_ih_l0"), bias)

    def _step(self, gates: Tensor, before: tuple[Tensor, Tensor] | None) -> tuple[Tensor, Tensor]:
        """Hidden and cell states `[..., size]` from those `before` one more word."""
        if before is not None:
            gates = gates + functional.linear(before[0], self._weight("weight_hh_l0"))
        i, f, g, o = gates.chunk(4, dim=-1)
        cell = i.sigmoid() * g.tanh()
        if before is not None:
            cell = cell + f.sigmoid() * before[1]
        return o.sigmoid() * cell.tanh(), cell

    def _weight(self, name: str) -> Tensor:
        return cast(Tensor, getattr(self.lstm, name))
