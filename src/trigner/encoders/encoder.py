"""The pretrained encoder: any Hugging Face encoder by name or folder."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from trigner.encoders.encoder_decoder import positions_of

MADE_FOR = 512
"""Subwords that an encoder is taken to be made for when it does not say."""


class Encoder(nn.Module):
    """A pretrained encoder; its last `layers` hidden states are averaged (W2NER: 4)."""

    def __init__(self, model: PreTrainedModel, *, layers: int = 4) -> None:
        super().__init__()
        available = model.config.num_hidden_layers
        self.model = model
        self.layers = min(layers, available)

    @property
    def size(self) -> int:
        """Features of a hidden state."""
        return int(self.model.config.hidden_size)

    @property
    def max_subwords(self) -> int:
        """Longest input in subwords, the tokenizer's own start and end included.

        RoBERTa-like models and MPNet count positions from behind their padding id, which their
        position table knows. Encoders with relative positions alone have no such table: for them
        it is the length that they were made for.
        """
        table = getattr(getattr(self.model, "embeddings", None), "position_embeddings", None)
        if isinstance(table, nn.Embedding):
            return table.num_embeddings - (
                0 if table.padding_idx is None else table.padding_idx + 1
            )
        return positions_of(self.model.config, "encoder") or MADE_FOR

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Subword states `[B, P, D]` from ids and mask `[B, P]`.

        Only these two inputs are passed: segment ids default to zeros where a model has them, and
        MPNet or RoBERTa have none.
        """
        output = self.model(
            input_ids=input_ids,
            attention_mask=attention_mask,
            output_hidden_states=self.layers > 1,
        )
        if self.layers == 1:
            return cast(Tensor, output.last_hidden_state)
        return torch.stack(output.hidden_states[-self.layers :]).mean(dim=0)
