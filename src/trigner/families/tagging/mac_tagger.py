"""MAC's network: one encoder and two grid taggers, of segments and of links between them.

Wang et al., ACL 2021, section 3, on words. From a pair's features to its tags everything is linear,
so the layers are folded into one before the grid is built: of a pair of words only its tags' scores
ever exist. Values and gradients are those of the layers one after another.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from trigner.families.tagging.conditional_norm import ConditionalNorm
from trigner.families.tagging.span_lstm import SpanLstm
from trigner.families.tagging.tag_weights import TagWeights, output_weights
from trigner.families.tagging.tagger import PairTagger, TagScores

LENGTHS = 512
"""Rows of the table of lengths; longer spans share the last."""


class SegmentTagger(nn.Module):
    """Tags of the span from the row's word to the column's.

    Pair features are a span LSTM's state and the conditional layer norm of both ends, mixed by a
    linear layer, then an embedding of the span's length. Below the diagonal there is no span: the
    LSTM's state is zero there and the length that of one word.
    """

    def __init__(
        self,
        *,
        size: int,
        span_size: int,
        reach: int | None,
        length_size: int,
        classes: int,
        squared_norm: bool,
    ) -> None:
        super().__init__()
        self.spans = SpanLstm(input_size=size, size=span_size, reach=reach)
        self.norm = ConditionalNorm(size=size, normalised="column", squared=squared_norm)
        self.mix = nn.Linear(span_size + size, size)
        self.length = nn.Embedding(LENGTHS, length_size)
        self.output = nn.Linear(size + length_size, classes)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Logits `[B, L, L, C]` from word states `[B, L, size]`."""
        span_size = self.spans.lstm.hidden_size
        on_mixed, on_length = self.output.weight.split(
            [self.mix.out_features, self.length.embedding_dim], dim=1
        )
        on_span, on_norm = (on_mixed @ self.mix.weight).split(
            [span_size, self.mix.in_features - span_size], dim=1
        )
        of_length = self.length.weight @ on_length.t() + on_mixed @ self.mix.bias + self.output.bias
        positions = torch.arange(states.shape[1], device=states.device)
        further = positions - positions[:, None]
        of_pair = self.norm(states, states, on_norm[None], lengths).permute(0, 2, 3, 1)
        of_span = self._placed(self.spans(states, lengths, on_span), further)
        return of_pair + of_span + of_length[further.clamp(0, LENGTHS - 1)]

    @staticmethod
    def _placed(scores: Tensor, further: Tensor) -> Tensor:
        """From `[B, L, R, C]`, by words behind the first, to `[B, L, L, C]`, by last word."""
        steps = further.clamp(min=0).clamp(max=scores.shape[2] - 1)[None, :, :, None]
        placed = scores.gather(2, steps.expand(scores.shape[0], -1, -1, scores.shape[3]))
        return torch.where(further[:, :, None] >= 0, placed, 0.0)

    def states_at(self, states: Tensor, sentences: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        """What the last layer reads at cells, `[N, size + length_size]`."""
        spans = self.spans.states_at(states, sentences, rows, columns)
        pairs = self.norm.states_at(states, sentences, rows, columns)
        lengths = self.length((columns - rows).clamp(0, LENGTHS - 1))
        return torch.cat([self.mix(torch.cat([spans, pairs], dim=1)), lengths], dim=1)


class LinkTagger(nn.Module):
    """Tags that say how the row's and the column's word belong to segments of one mention.

    Pair features are the conditional layer norm of both, through a linear layer.
    """

    def __init__(self, *, size: int, classes: int, squared_norm: bool) -> None:
        super().__init__()
        self.norm = ConditionalNorm(size=size, normalised="column", squared=squared_norm)
        self.mix = nn.Linear(size, size)
        self.output = nn.Linear(size, classes)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Logits `[B, L, L, C]` from word states `[B, L, size]`."""
        weight = self.output.weight
        pairs = self.norm(states, states, (weight @ self.mix.weight)[None], lengths).permute(
            0, 2, 3, 1
        )
        return pairs + (weight @ self.mix.bias + self.output.bias)

    def states_at(self, states: Tensor, sentences: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        """What the last layer reads at cells, `[N, size]`."""
        return self.mix(self.norm.states_at(states, sentences, rows, columns))


class MacTagger(PairTagger):
    """Encoder, word pooling, BiLSTM if wanted (`words`), a projection of them for each tagger.

    The BiLSTM is W2NER's and ours here; without it there is dropout alone on the pooled words.
    `states` of its `TagScores` are both projections, `[B, L, 2 * size]`.
    """

    def __init__(
        self,
        *,
        word_size: int,
        size: int,
        segments: SegmentTagger,
        links: LinkTagger,
        **words: Any,
    ) -> None:
        super().__init__(**words)
        self.to_segments = nn.Linear(word_size, size)
        self.to_links = nn.Linear(word_size, size)
        self.segments = segments
        self.links = links

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, word_subwords: Tensor, lengths: Tensor
    ) -> TagScores:
        """Logits `[B, L, L, C]`: the segments' tags, then the links'."""
        words, _ = self.word_states(input_ids, attention_mask, word_subwords, lengths)
        of_segments, of_links = self.to_segments(words), self.to_links(words)
        logits = [self.segments(of_segments, lengths), self.links(of_links, lengths)]
        return TagScores(torch.cat(logits, dim=-1), torch.cat([of_segments, of_links], dim=-1))

    def initialise_bias(self, scores: Tensor) -> None:
        """Let every pair of words begin near these scores of the tags, `[C]`: segments', links'."""
        layers = (self.segments.output, self.links.output)
        sizes = [layer.out_features for layer in layers]
        with torch.no_grad():
            for layer, own in zip(layers, scores.split(sizes), strict=True):
                layer.bias.copy_(own)

    @property
    def pair_state_size(self) -> int:
        """What both last layers read: `2 * size + length_size`."""
        return self.segments.output.in_features + self.links.output.in_features

    def pair_states(
        self, scores: TagScores, sentences: Tensor, rows: Tensor, columns: Tensor
    ) -> Tensor:
        """What both taggers' last layers read at cells, `[N, 2 * size + length_size]`."""
        of_segments, of_links = scores.states.chunk(2, dim=-1)
        cells = (sentences, rows, columns)
        states = [self.segments.states_at(of_segments, *cells)]
        return torch.cat([*states, self.links.states_at(of_links, *cells)], dim=1)

    def tag_weights(self) -> list[TagWeights]:
        """The last layers of both taggers."""
        segments, links = self.segments.output, self.links.output
        return [*output_weights(segments), *output_weights(links, segments.out_features)]
