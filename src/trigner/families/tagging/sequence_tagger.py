"""Subwords of a batch of sentences -> a score for each tag of each word, or each arc."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from trigner.encoders import Encoder
from trigner.families.tagging.tag_weights import TagWeights, output_weights
from trigner.families.tagging.tagger import Tagger, TagScores
from trigner.networks import WordPooling


class SequenceTagger(Tagger):
    """Encoder, word pooling, a layer with dropout in it, and a linear map to `tags` tags.

    The layer reads word vectors `[B, L, D]` and lengths: `recurrent.BiLstm` or `WordByWord`.
    With `transitions` each arc of the scheme's automaton has a weight.
    """

    def __init__(
        self,
        *,
        encoder: Encoder,
        pooling: WordPooling,
        layer: nn.Module,
        layer_size: int,
        tags: int,
        transitions: ArcWeights | None = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.pooling = pooling
        self.layer = layer
        self.output = nn.Linear(layer_size, tags)
        self.transitions = transitions

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, word_subwords: Tensor, lengths: Tensor
    ) -> TagScores:
        """Scores `[B, L, C]`, or `[B, L, A]` of arcs, with the word states `[B, L, size]`."""
        subwords = self.encoder(input_ids, attention_mask)
        words = self.pooling(subwords, word_subwords)
        states = self.layer(words, lengths)
        scores = self.output(states)
        return TagScores(scores if self.transitions is None else self.transitions(scores), states)

    def tag_weights(self) -> list[TagWeights]:
        """The last layer, and the weights of arcs."""
        arcs = [] if self.transitions is None else [self.transitions.weight]
        return [*output_weights(self.output), *(TagWeights(own, of="arcs") for own in arcs)]


class ArcWeights(nn.Module):
    """The score of an arc: that of its tag and a weight of its own, 0 at first."""

    def __init__(self, arc_tags: Sequence[int]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(len(arc_tags)))
        self.register_buffer("arc_tags", torch.tensor(arc_tags), persistent=False)

    def forward(self, scores: Tensor) -> Tensor:
        """`[B, L, A]` from the scores of tags `[B, L, C]`."""
        arc_tags: Tensor = self.get_buffer("arc_tags")
        return scores[..., arc_tags] + self.weight
