"""Scores of the hypergraph's edges from the words of a sentence, and the exact likelihood.

The scores are ours: the article has a log-linear model over features of words.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from trigner.families.core import WordNetwork
from trigner.families.hypergraph.graph import Edge, Graph
from trigner.families.hypergraph.inside import NEVER, Semiring, inside
from trigner.networks import Dropout

TORCH_LOG = Semiring(
    torch.logaddexp, functional.softplus, lambda values: torch.roll(values, -1, -1)
)
"""Sums of probabilities, of tensors."""

START_BIAS = -3.0
EDGE_BIAS = -1.0
"""An untrained network finds few mentions, and short ones: most words begin none."""


class HypergraphNetwork(WordNetwork):
    """Scores of the T nodes from `h_i`, of all other edges from `[h_i; h_i+1]` by an MLP.

    Where nodes remember the first word, a product of features of that and of the word is added
    (biaffine, of rank `start_rank`).
    """

    def __init__(
        self, *, graph: Graph, labels: int, size: int, hidden_size: int, start_rank: int,
        dropout: float, **parts: Any,
    ) -> None:  # fmt: skip
        super().__init__(**parts)
        self.graph = graph
        self.shape = (labels, len(graph.rows), len(Edge))
        outputs = labels * len(graph.rows) * len(Edge)
        self.start = nn.Linear(size, labels * graph.families)
        self.after_last = nn.Parameter(torch.empty(size).uniform_(-0.1, 0.1))
        self.hidden = nn.Linear(2 * size, hidden_size)
        self.dropout = Dropout(dropout)
        self.edge = nn.Linear(hidden_size, outputs)
        nn.init.constant_(self.start.bias, START_BIAS)
        nn.init.constant_(self.edge.bias, EDGE_BIAS)
        if graph.remembers_start:
            self.first_word = nn.Linear(size, start_rank)
            self.word = nn.Linear(size, start_rank)
            self.product = nn.Linear(start_rank, outputs, bias=False)
        self.allowed: Tensor
        self.register_buffer("allowed", torch.from_numpy(graph.allowed), persistent=False)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, word_subwords: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Scores `[B, L, Y, F]` of T and `[B, G, D, Y, R, 5]` of edges, NEVER where there is none.

        G graphs of D places as in `Graph.size` of L words. Takes the arrays of `batches.Batch`.
        """
        words, inside = self.word_states(input_ids, attention_mask, word_subwords, lengths)
        with torch.autocast(words.device.type, enabled=False):
            words = words.float()
            starts = self.start(words).unflatten(-1, (self.shape[0], self.graph.families))
            starts = starts.masked_fill(~inside[:, :, None, None], NEVER)
            return starts, self._edges(words, inside, lengths)

    def _edges(self, words: Tensor, inside: Tensor, lengths: Tensor) -> Tensor:
        positions = torch.arange(words.shape[1], device=words.device)
        following = functional.pad(words[:, 1:], (0, 0, 0, 1))
        last = positions == lengths[:, None] - 1
        following = torch.where(last[:, :, None], self.after_last, following)
        hidden = torch.relu(self.hidden(torch.cat([words, following], dim=-1)))
        scores: Tensor = self.edge(self.dropout(hidden))
        if self.graph.remembers_start:
            places = positions[: self.graph.max_extent]
            at = (positions[:, None] + places).clamp(max=words.shape[1] - 1)
            # A matrix for each first word: `[B, L, rank, outputs]`.
            readers = self.first_word(words)[..., None] * self.product.weight.t()
            scores = scores[:, at] + self.word(words)[:, at] @ readers
            leads_on = positions[:, None] + places + 1 < lengths[:, None, None]
            leads_on = leads_on & (places + 1 < places.shape[0])
        else:
            scores = scores[:, None]
            leads_on = (positions + 1 < lengths[:, None])[:, None]
        scores = scores.unflatten(-1, self.shape)
        ends = torch.arange(len(Edge), device=words.device) == Edge.END
        there: Tensor = self.allowed & (ends | leads_on[..., None, None, None])
        return scores.masked_fill(~there, NEVER)


def log_partition(graph: Graph, starts: Tensor, edges: Tensor) -> Tensor:
    """The logarithm of the sum over all sets of mentions, `[B]`, from a network's scores."""
    by_place = [scores.unbind(-1) for scores in edges.unbind(2)]
    b, _ = inside(TORCH_LOG, by_place)
    firsts = b[0] if graph.remembers_start else torch.stack(b[:-1], dim=2)[:, 0]
    below = firsts[..., list(graph.first_rows)]
    return functional.softplus(starts + below).sum(dim=(1, 2, 3))


def gold_score(starts: Tensor, edges: Tensor, gold_starts: Tensor, gold_edges: Tensor) -> Tensor:
    """The sum of the scores of prefix trees, all sentences together.

    `gold_starts [N, 4]` and `gold_edges [M, 6]` are indices into the scores.
    """
    return starts[gold_starts.unbind(1)].sum() + edges[gold_edges.unbind(1)].sum()
