"""Where the decoder comes from: an encoder-decoder's own, or a fresh one behind an encoder."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn
from transformers import MBartConfig, PreTrainedModel
from transformers.models.mbart.modeling_mbart import MBartDecoder

from trigner.networks import Encoder

SCALED_BEFORE_OUTPUT = ("t5", "mt5", "umt5", "longt5")
"""Families whose decoder states are divided by the root of their size before they score tokens."""


class EncoderHalf(Encoder):
    """The encoder of an encoder-decoder, which is next to its decoder in `model`.

    Both get embeddings, not ids: they share one table, and it is kept once.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__(model, layers=1)
        for half in (model.get_encoder(), model.get_decoder()):
            if hasattr(half, "embed_tokens"):
                half.embed_tokens = None

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Subword states `[B, P, D]` from ids and mask `[B, P]`: the last, as the decoder knows."""
        embeddings = self.model.get_input_embeddings()(input_ids)
        output = self.model.get_encoder()(inputs_embeds=embeddings, attention_mask=attention_mask)
        return cast(Tensor, output.last_hidden_state)


class PretrainedDecoder(nn.Module):
    """The decoder of an `EncoderHalf`'s model, whose weights it does not own."""

    def __init__(self, encoder: EncoderHalf) -> None:
        super().__init__()
        self._model = (encoder.model,)  # in a tuple: registered once, as part of the encoder
        config: Any = encoder.model.config
        self.size = encoder.size
        self.positions: int | None = getattr(config, "max_position_embeddings", None)
        scaled = config.model_type in SCALED_BEFORE_OUTPUT
        self.output_scale = self.size**-0.5 if scaled else 1.0

    @property
    def input_scale(self) -> float:
        """What embeddings are multiplied with before the decoder reads them."""
        table = self._model[0].get_input_embeddings()
        return float(getattr(table, "embed_scale", 1.0))

    def forward(self, **inputs: Any) -> Any:
        """What `transformers` calls a decoder's forward."""
        return self._model[0].get_decoder()(**inputs)


class FreshDecoder(nn.Module):
    """A Transformer decoder with random weights: mBART's, which normalises before each layer.

    Its positions begin at zero: those that no output of the training reaches add nothing.
    """

    output_scale = 1.0
    input_scale = 1.0

    def __init__(
        self,
        *,
        size: int,
        layers: int,
        heads: int,
        feed_forward: int,
        dropout: float,
        positions: int,
    ) -> None:
        super().__init__()
        self.size = size
        self.positions: int | None = positions
        config = MBartConfig(
            vocab_size=1,
            d_model=size,
            decoder_layers=layers,
            decoder_attention_heads=heads,
            decoder_ffn_dim=feed_forward,
            dropout=dropout,
            attention_dropout=dropout,
            activation_dropout=dropout,
            max_position_embeddings=positions,
            pad_token_id=0,
            bos_token_id=None,
            eos_token_id=None,
            forced_eos_token_id=None,
            decoder_start_token_id=None,
        )
        self.model = MBartDecoder(config)
        self.model.embed_tokens = None  # type: ignore[assignment]
        with torch.no_grad():
            self.model.embed_positions.weight.zero_()

    def forward(self, **inputs: Any) -> Any:
        """What `transformers` calls a decoder's forward."""
        return self.model(**inputs)


Decoder = PretrainedDecoder | FreshDecoder
