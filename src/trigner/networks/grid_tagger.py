"""The assembly: pieces of a batch of sentences -> a score for each tag of each word pair."""

from __future__ import annotations

import torch
from torch import Tensor

from trigner.errors import InputError
from trigner.networks.co_predictor import TrignerCoPredictor, W2nerCoPredictor
from trigner.networks.encoder import Encoder
from trigner.networks.pair_features import PairFeatures
from trigner.networks.pooling import WordPooling
from trigner.networks.recurrent import BiLstm
from trigner.networks.tagger import Tagger, TagScores


class GridTagger(Tagger):
    """Encoder, word pooling, BiLSTM, pair features, co-predictor.

    Paper, figure 2; W2NER, figure 3.
    """

    def __init__(
        self,
        *,
        encoder: Encoder,
        pooling: WordPooling,
        recurrent: BiLstm,
        features: PairFeatures,
        co_predictor: TrignerCoPredictor | W2nerCoPredictor,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.pooling = pooling
        self.recurrent = recurrent
        self.features = features
        self.co_predictor = co_predictor

    def forward(
        self, piece_ids: Tensor, attention_mask: Tensor, word_pieces: Tensor, lengths: Tensor
    ) -> TagScores:
        """`Y [B, L, L, C]` with the word states `H [B, L, size]`."""
        pieces = self.encoder(piece_ids, attention_mask)
        states = self.recurrent(self.pooling(pieces, word_pieces), lengths)
        positions = torch.arange(word_pieces.shape[1], device=lengths.device)
        inside = positions < lengths[:, None]
        features = self.features(states, inside[:, :, None] & inside[:, None])
        logits = self.co_predictor(states, features)
        return TagScores(logits.permute(0, 2, 3, 1), states)

    def pair_states(
        self, scores: TagScores, sentences: Tensor, rows: Tensor, columns: Tensor
    ) -> Tensor:
        """`H^bi [N, D]` at cells."""
        if not isinstance(self.co_predictor, TrignerCoPredictor):
            raise InputError("W2NER's co-predictor has no pair states H^bi; use the logits source")
        return self.co_predictor.pair_states(scores.states, sentences, rows, columns)
