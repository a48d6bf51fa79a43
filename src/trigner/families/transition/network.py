"""The parser's network (Dai et al. 2020, section 3.2) on any encoder.

Sizes: `d` features of a word state, and of every other state.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from trigner.families.core import WordNetwork
from trigner.networks import Dropout

States = tuple[Tensor, Tensor]
"""Hidden states `h` and cells `c` of an LSTM or a tree LSTM, `[N, d]` each."""


class Composition(nn.Module):
    """Nodes of a tree LSTM without an output gate: leaves from words, unions from two nodes."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.leaf = nn.Linear(size, 2 * size)
        self.union = nn.Linear(2 * size, 4 * size)

    def leaves(self, words: Tensor) -> States:
        """Nodes of word states `[N, d]`: `c = W v + b`, `h = sigmoid(U v + u) * tanh(c)`."""
        cells, gates = self.leaf(words).chunk(2, dim=-1)
        return torch.sigmoid(gates) * torch.tanh(cells), cells

    def unions(self, left: States, right: States) -> States:
        """`c = i * g + f_l * c_l + f_r * c_r`, `h = tanh(c)`."""
        together = self.union(torch.cat([left[0], right[0]], dim=-1))
        keep, from_left, from_right, new = together.chunk(4, dim=-1)
        cells = torch.sigmoid(keep) * torch.tanh(new)
        cells = cells + torch.sigmoid(from_left) * left[1] + torch.sigmoid(from_right) * right[1]
        return torch.tanh(cells), cells


class TransitionNetwork(WordNetwork):
    """Scores of actions from stack, buffer, action history and the sentence around them.

    A state reads the three top stack states, for each a bilinear attention over the words of the
    sentence, the next item of the buffer and the last state of an LSTM over the actions.
    """

    def __init__(
        self, *, size: int, actions: int, action_size: int, hidden_size: int, dropout: float,
        **parts: Any,
    ) -> None:  # fmt: skip
        super().__init__(**parts)
        self.size = size
        self.composition = Composition(size)
        self.stack = nn.LSTMCell(size, size)
        self.history = nn.LSTM(action_size, size, batch_first=True)
        self.embedding = nn.Embedding(actions, action_size)
        self.attention = nn.Linear(size, 3 * size, bias=False)
        self.empty_stack = nn.Parameter(torch.zeros(2, size))
        self.no_action = nn.Parameter(torch.zeros(2, size))
        self.no_word = nn.Parameter(torch.empty(size).uniform_(-0.1, 0.1))
        self.dropout = Dropout(dropout)
        self.hidden = nn.Linear(8 * size, hidden_size)
        self.output = nn.Linear(hidden_size, actions)

    def pushed(self, nodes: Tensor, below: States) -> States:
        """States of stacks with these nodes, `h [N, d]`, on top of others."""
        states: States = self.stack(nodes, below)
        return states

    def attended(self, stacks: Tensor, words: Tensor, inside: Tensor) -> Tensor:
        """Summaries `[B, C, 3, d]` of sentences for stack states `[B, C, d]`.

        One for each place among the top three; `words [B, L, d]`, `inside [B, L]`.
        """
        batch, count, size = stacks.shape
        queries = self.attention(stacks).view(batch, count * 3, size)
        scores = queries @ words.transpose(1, 2)
        weights = scores.masked_fill(~inside[:, None, :], -torch.inf).softmax(dim=-1)
        summaries: Tensor = (weights @ words).view(batch, count, 3, size)
        return summaries

    def scores(self, tops: Tensor, around: Tensor, buffer: Tensor, history: Tensor) -> Tensor:
        """Logits `[..., A]` from states `[..., 3, d]`, their summaries, and two of `[..., d]`."""
        features = torch.cat([tops.flatten(-2), around.flatten(-2), buffer, history], dim=-1)
        logits: Tensor = self.output(torch.relu(self.hidden(self.dropout(features))))
        return logits

    def forward(
        self,
        unions: Tensor,
        depths: tuple[int, ...],
        stacks: Tensor,
        heights: tuple[int, ...],
        held: Tensor,
        tops: Tensor,
        buffer: Tensor,
        taken: Tensor,
        **inputs: Tensor,
    ) -> Tensor:
        """Logits `[B, T, A]` of each step of a `Layout`; `inputs` as `word_states` takes them."""
        words, inside = self.word_states(**inputs)
        with torch.autocast(words.device.type, enabled=False):
            words = words.float()
            flat = words.flatten(0, 1)
            nodes = self._nodes(flat, unions, depths)
            states = self._stacks(nodes, stacks, heights)[held]
            around = self.attended(states, words, inside)
            rows = torch.arange(len(held), device=held.device)[:, None, None]
            places = torch.arange(3, device=held.device)
            items = torch.cat([flat, nodes, self.no_word[None]])
            return self.scores(
                states[rows, tops], around[rows, tops, places], items[buffer], self._actions(taken)
            )

    def _nodes(self, words: Tensor, unions: Tensor, depths: tuple[int, ...]) -> Tensor:
        """`h` of all nodes of a `Layout`."""
        h, c = self.composition.leaves(words)
        for parts in unions.split(depths):
            left, right = parts.unbind(dim=1)
            own = self.composition.unions((h[left], c[left]), (h[right], c[right]))
            h, c = torch.cat([h, own[0]]), torch.cat([c, own[1]])
        return h

    def _stacks(self, nodes: Tensor, stacks: Tensor, heights: tuple[int, ...]) -> Tensor:
        """`h` of all stacks of a `Layout`."""
        h, c = self.empty_stack[:1], self.empty_stack[1:]
        for made in stacks.split(heights):
            below, top = made.unbind(dim=1)
            own = self.pushed(nodes[top], (h[below], c[below]))
            h, c = torch.cat([h, own[0]]), torch.cat([c, own[1]])
        return h

    def _actions(self, taken: Tensor) -> Tensor:
        """States `[B, T, d]` before each step; `taken [B, T - 1]`."""
        count = len(taken)
        first = self.no_action[:, None, None].expand(2, 1, count, self.size)
        start = first[0].transpose(0, 1)
        if not taken.shape[1]:
            return start
        states = (first[0].contiguous(), first[1].contiguous())
        later, _ = self.history(self.dropout(self.embedding(taken)), states)
        return torch.cat([start, later], dim=1)

    def remembered(self, actions: Tensor, states: States) -> States:
        """States of the action history after one more action, `[N]`."""
        weights = (getattr(self.history, name) for name in self.history._flat_weights_names)
        state: States = torch.lstm_cell(self.embedding(actions), states, *weights)
        return state
