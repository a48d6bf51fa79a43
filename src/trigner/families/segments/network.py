"""Scores of segments as edges of a hypergraph, and what combinations of them are scored by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from trigner.encoders import Encoder
from trigner.families.core import WordNetwork, word_parts
from trigner.families.hypergraph import EDGE_BIAS, NEVER, START_BIAS, Edge
from trigner.families.segments.decoding import GAPS, Role
from trigner.families.segments.settings import SegmentSettings
from trigner.families.spans import SpanScorer


@dataclass(frozen=True, slots=True)
class SegmentOutput:
    """Scores of a batch; what lies in padding is meaningless.

    `starts [B, L, Y, 1]` and `edges [B, L, D, Y, 1, 5]` as those of `HypergraphNetwork`, for
    mentions of one segment of at most `D` words; `parts [B, L, D, 4, P]`; `gaps [B, GAPS, P]` and
    `readout [B, P + 1, Y]`, the same for each sentence.
    """

    starts: Tensor
    edges: Tensor
    parts: Tensor
    gaps: Tensor
    readout: Tensor


class SegmentNetwork(WordNetwork):
    """Encoder, word pooling, BiLSTM (`words`: see `WordNetwork`), scores of words and segments.

    That a segment starts is scored from `h_i`, that one goes on from `[h_j; h_j+1]` wherever it
    started, that it ends from the segment's own vector (Wang and Lu 2019, section 3.2). Its hidden
    layer also gives its parts in combinations.
    """

    def __init__(self, *, labels: int, settings: SegmentSettings, **words: Any) -> None:
        super().__init__(**words)
        size, hidden = settings.lstm_size, settings.combination_size
        self.graph = settings.structure()
        self.shape = (labels, len(Role), hidden)
        self.start = nn.Linear(size, labels)
        self.on = nn.Linear(2 * size, labels)
        self.width = nn.Embedding(settings.max_width, settings.width_size)
        self.segments = SpanScorer(
            word_size=size,
            width_size=settings.width_size,
            hidden=settings.hidden_size,
            classes=labels + len(Role) * hidden,
            dropout=settings.output_dropout,
        )
        self.gaps = nn.Parameter(torch.empty(GAPS, hidden).normal_(std=0.1))
        self.readout = nn.Linear(hidden, labels)
        nn.init.constant_(self.start.bias, START_BIAS)
        nn.init.constant_(self.on.bias, EDGE_BIAS)
        nn.init.constant_(self.segments.output.bias[:labels], EDGE_BIAS)

    def __call__(self, *arrays: Tensor, **named: Tensor) -> SegmentOutput:
        """Scores of a batch."""
        return cast(SegmentOutput, super().__call__(*arrays, **named))

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, word_subwords: Tensor, lengths: Tensor
    ) -> SegmentOutput:
        """Takes the arrays of `batches.Batch`."""
        words, inside = self.word_states(input_ids, attention_mask, word_subwords, lengths)
        labels, roles, hidden = self.shape
        with torch.autocast(words.device.type, enabled=False):
            words = words.float()
            first = torch.arange(words.shape[1], device=words.device)[:, None]
            places = first[: self.graph.max_extent, 0]
            at = (first + places).clamp(max=words.shape[1] - 1)
            starts = self.start(words).masked_fill(~inside[..., None], NEVER)
            found = self.segments.all_spans(words, self.width(places), at)
            following = functional.pad(words[:, 1:], (0, 0, 0, 1))
            on = self.on(torch.cat([words, following], dim=-1))[:, at]
            leads_on = (first + places + 1 < lengths[:, None, None]) & (
                places + 1 < places.shape[0]
            )
            on = on.masked_fill(~leads_on[..., None], NEVER)
            # The first two kinds of edges; of the others there is none within one segment.
            edges = torch.stack([found[..., :labels], on], dim=-1)
            edges = functional.pad(edges, (0, len(Edge) - 2), value=NEVER)
            readout = torch.cat([self.readout.weight.t(), self.readout.bias[None]])
            return SegmentOutput(
                starts[..., None],
                edges[..., None, :],
                found[..., labels:].unflatten(-1, (roles, hidden)),
                # For each sentence: a bare weight is no output of an exported graph.
                self.gaps.expand(words.shape[0], -1, -1),
                readout.expand(words.shape[0], -1, -1),
            )


def build_network(encoder: Encoder, labels: int, settings: SegmentSettings) -> SegmentNetwork:
    """The network around an encoder, its other weights freshly drawn."""
    return SegmentNetwork(labels=labels, settings=settings, **word_parts(encoder, settings))
