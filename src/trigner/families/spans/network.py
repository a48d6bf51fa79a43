"""The span network: which spans are fragments, and how the best of them are related.

Li et al., ACL 2021, without its syntax features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn

from trigner.encoders import Encoder
from trigner.families.core import WordNetwork, word_parts
from trigner.families.spans.scorers import PairScorer, Propagation, SpanScorer
from trigner.families.spans.settings import SpanSettings, kept_of

RELATIONS = 2
"""COMBINED and OVERLAP: the score of NONE is 0."""


@dataclass(frozen=True, slots=True)
class SpanOutput:
    """Scores of a batch; what lies in padding is meaningless.

    `fragments [B, L, W, C]` and `pruning [B, L, W]` of spans by first word and words behind it;
    `kept [B, K]` the spans whose relations were scored, `W * first word + words behind it`, -1
    behind a sentence's own number of them; `relations [B, K, K, 2]`.
    """

    fragments: Tensor
    pruning: Tensor
    kept: Tensor
    relations: Tensor


class SpanNetwork(WordNetwork):
    """Encoder, word pooling, BiLSTM (`words`: see `WordNetwork`), scores of spans and pairs."""

    def __init__(self, *, classes: int, settings: SpanSettings, **words: Any) -> None:
        super().__init__(**words)
        word_size, hidden = settings.lstm_size, settings.hidden_size
        size = 2 * word_size + settings.width_size
        spans: dict[str, Any] = {
            "word_size": word_size,
            "width_size": settings.width_size,
            "hidden": hidden,
            "dropout": settings.output_dropout,
        }
        self.kept = settings.kept
        self.pruned_by_relations = settings.pruning == "relations"
        self.width = nn.Embedding(settings.max_width, settings.width_size)
        self.pruner = SpanScorer(classes=1, **spans)
        self.fragments = SpanScorer(classes=classes, **spans)
        self.relations = PairScorer(
            size=size, hidden=hidden, classes=RELATIONS, dropout=settings.output_dropout
        )
        self.rounds = settings.propagation
        if self.rounds:
            self.propagation = Propagation(size=size, relations=RELATIONS)

    def __call__(
        self, *arrays: Tensor, always: Tensor | None = None, **named: Tensor
    ) -> SpanOutput:
        """Scores of a batch."""
        return cast(SpanOutput, super().__call__(*arrays, always=always, **named))

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        word_subwords: Tensor,
        lengths: Tensor,
        always: Tensor | None = None,
    ) -> SpanOutput:
        """Takes the arrays of `batches.Batch`; of the spans `always [B, L, W]` are kept first."""
        words, _ = self.word_states(input_ids, attention_mask, word_subwords, lengths)
        reach, widths = self.width.num_embeddings, self.width.weight
        first = torch.arange(words.shape[1], device=words.device)
        last = first[:, None] + torch.arange(reach, device=words.device)
        there = last < lengths[:, None, None]
        last = last.clamp(max=words.shape[1] - 1)
        pruning = self.pruner.all_spans(words, widths, last)[..., 0]
        fragments = self.fragments.all_spans(words, widths, last)
        counts = kept_of(lengths, self.kept)
        kept, inside = self._best(pruning, there, counts, always)
        starts, behind = kept // reach, kept % reach
        vectors = torch.cat(
            [_chosen(words, starts), _chosen(words, starts + behind), self.width(behind)], dim=2
        )
        of_kept = pruning.flatten(1).gather(1, kept)[..., None]
        relations = self._relations(vectors, of_kept, counts)
        if self.rounds:
            pairs = (inside[:, :, None] & inside[:, None]).logical_and(
                ~torch.eye(kept.shape[1], dtype=torch.bool, device=kept.device)
            )
            for _ in range(self.rounds):
                vectors = self.propagation(vectors, torch.where(pairs[..., None], relations, 0.0))
                relations = self._relations(vectors, of_kept, counts)
            fragments = self._replaced(fragments, kept, inside, self.fragments(vectors))
        return SpanOutput(fragments, pruning, torch.where(inside, kept, -1), relations)

    def _best(
        self, pruning: Tensor, there: Tensor, counts: Tensor, always: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """The spans kept `[B, K]`, and which of them are a sentence's own."""
        scores = pruning.detach().float().masked_fill(~there, -torch.inf).flatten(1)
        # As many as the longest sentence has; what lies behind a shorter one's own is masked.
        most = kept_of(pruning.shape[1], self.kept)
        if always is None:
            kept = scores.topk(most, dim=1).indices
        else:  # those first, by their scores too
            ranked = scores.argsort(dim=1, descending=True, stable=True)
            first = (always & there).flatten(1).gather(1, ranked)
            kept = ranked.gather(1, first.byte().argsort(dim=1, descending=True, stable=True))
            kept = kept[:, :most]
        return kept, torch.arange(kept.shape[1], device=kept.device) < counts[:, None]

    def _relations(self, vectors: Tensor, pruning: Tensor, counts: Tensor) -> Tensor:
        scores = self.relations(vectors, counts)
        if self.pruned_by_relations:
            scores = scores + pruning[:, :, None] + pruning[:, None]
        return cast(Tensor, scores)

    @staticmethod
    def _replaced(fragments: Tensor, kept: Tensor, inside: Tensor, own: Tensor) -> Tensor:
        """Scores of all spans with those of the spans kept in their places."""
        flat = fragments.flatten(1, 2)
        places = kept[..., None].expand(-1, -1, flat.shape[2])
        own = torch.where(inside[..., None], own.to(flat.dtype), flat.gather(1, places))
        return flat.scatter(1, places, own).view_as(fragments)


def build_network(encoder: Encoder, classes: int, settings: SpanSettings) -> SpanNetwork:
    """The network around an encoder, its other weights freshly drawn."""
    return SpanNetwork(classes=classes, settings=settings, **word_parts(encoder, settings))


def _chosen(states: Tensor, places: Tensor) -> Tensor:
    """`[B, K, S]`: the states `[B, L, S]` of words `[B, K]`."""
    places = places.clamp(max=states.shape[1] - 1)
    return states.gather(1, places[..., None].expand(-1, -1, states.shape[2]))
