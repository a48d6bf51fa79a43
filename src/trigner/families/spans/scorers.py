"""What scores spans and pairs of spans: feed-forward networks with one hidden layer.

A span's vector is [state of its first word; state of its last; features of its width], and the
first layer of all spans' scores is a sum of three parts that are computed once for each word or
width: the vectors of all spans never exist.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn

from trigner.networks import Dropout, pair_products


class SpanScorer(nn.Module):
    """Scores of spans from their vectors of two words' states and features of the width."""

    def __init__(
        self, *, word_size: int, width_size: int, hidden: int, classes: int, dropout: float
    ) -> None:
        super().__init__()
        self.sizes = (word_size, word_size, width_size)
        self.hidden = nn.Linear(sum(self.sizes), hidden)
        self.dropout = Dropout(dropout)
        self.output = nn.Linear(hidden, classes)

    def forward(self, vectors: Tensor) -> Tensor:
        """`[..., C]` from span vectors `[..., D]`."""
        return self._output(self.hidden(vectors))

    def all_spans(self, words: Tensor, widths: Tensor, last: Tensor) -> Tensor:
        """`[B, L, W, C]` of the spans of up to `W` words that begin with each word.

        From word states `[B, L, S]` and features of the widths `[W, F]`; `last [L, W]` is the last
        word of each span.
        """
        on_first, on_last, on_width = self.hidden.weight.split(list(self.sizes), dim=1)
        firsts, lasts = words @ on_first.t(), words @ on_last.t()
        of_width = widths @ on_width.t() + self.hidden.bias
        return self._output(firsts[:, :, None] + lasts[:, last] + of_width)

    def _output(self, hidden: Tensor) -> Tensor:
        return cast(Tensor, self.output(self.dropout(hidden.relu())))


class PairScorer(nn.Module):
    """Scores of ordered pairs of spans, from [a; b; a * b]."""

    def __init__(self, *, size: int, hidden: int, classes: int, dropout: float) -> None:
        super().__init__()
        self.size = size
        self.hidden = nn.Linear(3 * size, hidden)
        self.dropout = Dropout(dropout)
        self.output = nn.Linear(hidden, classes)

    def forward(self, vectors: Tensor, counts: Tensor) -> Tensor:
        """`[B, K, K, C]` from span vectors `[B, K, D]`, of which `counts [B]` are real."""
        on_one, on_other, on_product = self.hidden.weight.split(self.size, dim=1)
        one, other = vectors @ on_one.t() + self.hidden.bias, vectors @ on_other.t()
        products = pair_products(on_product[None], vectors, vectors, counts).permute(0, 2, 3, 1)
        hidden = one[:, :, None] + other[:, None] + products
        return cast(Tensor, self.output(self.dropout(hidden.relu())))


class Propagation(nn.Module):
    """Spans read those that they are related to, as much as a gate lets in.

    Luan et al., A General Framework for Information Extraction using Dynamic Span Graphs (DyGIE),
    NAACL 2019.
    """

    def __init__(self, *, size: int, relations: int) -> None:
        super().__init__()
        self.relations = nn.Parameter(torch.empty(relations, size))
        self.gate = nn.Linear(2 * size, size)
        nn.init.uniform_(self.relations, -(relations**-0.5), relations**-0.5)

    def forward(self, vectors: Tensor, scores: Tensor) -> Tensor:
        """`[B, K, D]` from vectors `[B, K, D]` and scores of relations `[B, K, K, R]`.

        The scores are 0 where there is no pair.
        """
        # Sums over the other spans first: a vector for each pair never exists.
        read = scores.relu().permute(0, 3, 1, 2) @ vectors[:, None]
        related = (read * self.relations[:, None]).sum(dim=1)
        gate: Tensor = self.gate(torch.cat([vectors, related], dim=2)).sigmoid()
        return gate * vectors + (1 - gate) * related
