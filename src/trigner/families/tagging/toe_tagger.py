"""TOE's network: tag representations, then a co-predictor for each of the two groups of tags."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from trigner.families.tagging.co_predictor import CoPredictor
from trigner.families.tagging.tag_enhancement import TagEnhancement
from trigner.families.tagging.tag_weights import TagWeights, output_weights
from trigner.families.tagging.tagger import PairTagger, TagScores
from trigner.networks import PointwiseConvolution


class ToeTagger(PairTagger):
    """Encoder, word pooling, BiLSTM (`words`: see `WordNetwork`), tag enhancement, co-predictors.

    The scores of a group's tags become `feature_size` pair features of its co-predictor, which
    also sees the word states. Source: the released code of TOE.
    """

    def __init__(
        self,
        *,
        enhancement: TagEnhancement,
        main: CoPredictor,
        auxiliary: CoPredictor,
        main_tags: int,
        auxiliary_tags: int,
        feature_size: int,
        **words: Any,
    ) -> None:
        super().__init__(**words)
        self.enhancement = enhancement
        self.main_features = PointwiseConvolution(main_tags, feature_size)
        self.auxiliary_features = PointwiseConvolution(auxiliary_tags, feature_size)
        self.main = main
        self.auxiliary = auxiliary

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, word_subwords: Tensor, lengths: Tensor
    ) -> TagScores:
        """Logits `[B, L, L, C]`, the main tags first."""
        states, inside = self.word_states(input_ids, attention_mask, word_subwords, lengths)
        table = self.enhancement(states, inside)
        sizes = [self.main_features.in_channels, self.auxiliary_features.in_channels]
        of_main, of_auxiliary = table.split(sizes, dim=1)
        main = self.main(states, self.main_features(of_main))
        auxiliary = self.auxiliary(states, self.auxiliary_features(of_auxiliary))
        logits = torch.cat([main.logits, auxiliary.logits], dim=1)
        return TagScores(logits.permute(0, 2, 3, 1), main.hidden)

    def initialise_bias(self, scores: Tensor) -> None:
        """Let every pair of words begin near these scores of the tags, `[C]`, main ones first."""
        sizes = [self.main_features.in_channels, self.auxiliary_features.in_channels]
        for co_predictor, own in zip((self.main, self.auxiliary), scores.split(sizes), strict=True):
            co_predictor.grid.initialise_bias(own)

    @property
    def pair_state_size(self) -> int:
        """The hidden size of the main co-predictor's grid branch."""
        return self.main.grid.size

    def pair_states(
        self, scores: TagScores, sentences: Tensor, rows: Tensor, columns: Tensor
    ) -> Tensor:
        """What the last layer of the main co-predictor's grid branch reads at cells, `[N, D]`.

        Whichever co-predictors it has: `H^bi` is made of the word states alone, and a loss on it
        would pass the tag representations by.
        """
        return scores.states[sentences, :, rows, columns]

    def tag_weights(self) -> list[TagWeights]:
        """The tables' scores of tags, what reads them, and both co-predictors."""
        main = self.main_features.in_channels
        return [
            *output_weights(self.enhancement.output),
            TagWeights(self.main_features.weight, axis=1),
            TagWeights(self.auxiliary_features.weight, main, axis=1),
            *self.main.tag_weights(),
            *self.auxiliary.tag_weights(main),
        ]
