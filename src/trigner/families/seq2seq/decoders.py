"""Where the decoder comes from: an encoder-decoder's own, or a fresh one behind an encoder."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn
from transformers import MBartConfig, PreTrainedModel
from transformers.models.mbart.modeling_mbart import MBartDecoder

from trigner.encoders import (
    Encoder,
    decoder_scale,
    keep_shared_once,
    output_scale,
    positions_of,
    refuse_unlike,
)
from trigner.families.core import evaluating


class EncoderHalf(Encoder):
    """The encoder of an encoder-decoder, which is next to its decoder in `model`.

    Both have one table of subwords, and it is kept once.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__(model, layers=1)
        keep_shared_once(self)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Subword states `[B, P, D]` from ids and mask `[B, P]`: the last, as the decoder knows."""
        output = self.model.get_encoder()(input_ids=input_ids, attention_mask=attention_mask)
        return cast(Tensor, output.last_hidden_state)


class PretrainedDecoder(nn.Module):
    """The decoder of an `EncoderHalf`'s model, whose weights it does not own."""

    def __init__(self, encoder: EncoderHalf) -> None:
        super().__init__()
        self._model = (encoder.model,)  # in a tuple: registered once, as part of the encoder
        self.size = encoder.size
        self.positions: int | None = positions_of(encoder.model.config, "decoder")
        self.output_scale = output_scale(encoder.model.config)

    @property
    def input_scale(self) -> float:
        """What embeddings are multiplied with before the decoder reads them."""
        return decoder_scale(self._model[0])

    def forward(self, **inputs: Any) -> Any:
        """What `transformers` calls a decoder's forward."""
        return self._model[0].get_decoder()(**inputs)


def refuse_other_reading(encoder: EncoderHalf, ids: Tensor, name: str) -> None:
    """Raises InputError when the decoder of `name` makes of embeddings what it does not of ids."""
    model, decoder, mask = encoder.model, PretrainedDecoder(encoder), torch.ones_like(ids)
    with evaluating(model):
        wanted = model(input_ids=ids, attention_mask=mask, decoder_input_ids=ids)
        rows = nn.functional.embedding(ids, cast(nn.Embedding, model.get_input_embeddings()).weight)
        found = decoder(
            inputs_embeds=decoder.input_scale * rows,
            encoder_hidden_states=encoder(ids, mask),
            encoder_attention_mask=mask,
        )
    refuse_unlike(name, found.last_hidden_state, wanted.last_hidden_state)


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
