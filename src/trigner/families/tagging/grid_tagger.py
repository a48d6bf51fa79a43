"""The assembly: subwords of a batch of sentences -> a score for each tag of each word pair."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from trigner.families.tagging.co_predictor import CoPredictor
from trigner.families.tagging.pair_features import PairFeatures
from trigner.families.tagging.tag_weights import TagWeights
from trigner.families.tagging.tagger import PairTagger, TagScores


class GridTagger(PairTagger):
    """Encoder, word pooling, BiLSTM (`words`: see `WordNetwork`), pair features, co-predictor.

    Paper, figure 2; W2NER, figure 3.
    """

    def __init__(
        self,
        *,
        features: PairFeatures,
        co_predictor: CoPredictor,
        **words: Any,
    ) -> None:
        super().__init__(**words)
        self.features = features
        self.co_predictor = co_predictor

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, word_subwords: Tensor, lengths: Tensor
    ) -> TagScores:
        """`Y [B, L, L, C]` with the states that the co-predictor's `pair_states` reads."""
        states, inside = self.word_states(input_ids, attention_mask, word_subwords, lengths)
        features = self.features(states, inside[:, :, None] & inside[:, None])
        scores = self.co_predictor(states, features)
        return TagScores(scores.logits.permute(0, 2, 3, 1), scores.states)

    def initialise_bias(self, scores: Tensor) -> None:
        """Let every pair of words begin near these scores of the tags, `[C]`."""
        self.co_predictor.grid.initialise_bias(scores)

    @property
    def pair_state_size(self) -> int:
        """That of the co-predictor."""
        return self.co_predictor.pair_state_size

    def pair_states(
        self, scores: TagScores, sentences: Tensor, rows: Tensor, columns: Tensor
    ) -> Tensor:
        """At cells: `H^bi` of TriG-NER's co-predictor, of W2NER's the grid branch's `[N, D]`."""
        return self.co_predictor.pair_states(scores.states, sentences, rows, columns)

    def tag_weights(self) -> list[TagWeights]:
        """Those of the co-predictor."""
        return self.co_predictor.tag_weights()
