"""The settings of the system `seq2seq`.

Beam, penalty, share and dropout of the output are those of the paper's CADEC setting. Its outputs
had at most 10 tokens and 1.6 for each subword, too few for annotations that overlap much.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from trigner.families.core import EncoderSettings
from trigner.systems import EncoderOptimisation

Representation = Literal["word", "span", "bpe"]
Order = Literal["sorted", "shuffled"]


class Seq2SeqOptimisation(EncoderOptimisation):
    """Rates of a fresh decoder: with a tagger's 3e-3 one run had a dev F1 of 6 after two epochs."""

    learning_rate: float = Field(
        default=1e-3, gt=0, description="learning rate of all other weights"
    )


class Seq2SeqSettings(EncoderSettings):
    """The output sequence, the network that writes it, and the search for it."""

    pointers: Representation = Field(
        default="word",
        description="what a mention is written as: its words, first and last word of each segment,"
        " or all subwords",
    )
    order: Order = Field(
        default="sorted",
        description="of a sentence's mentions: by their words, which the output then has to keep"
        " to, or drawn anew for each batch",
    )
    length_base: int = Field(
        default=10, ge=1, description="maximum output tokens, before length_ratio"
    )
    length_ratio: float = Field(
        default=3.0, ge=0, description="additional output tokens per word (with bpe per subword)"
    )
    masked_loss: bool = Field(
        default=True,
        description="learn to choose among the tokens that keep the output well-formed; false:"
        " among all tokens, as the paper",
    )
    beam_size: int = Field(
        default=4, ge=1, le=64, description="hypotheses of a sentence; 1: greedy"
    )
    length_penalty: float = Field(
        default=1.0, ge=0, description="log-probabilities are divided by length to this power"
    )
    recurrent: bool = Field(
        default=True,
        description="a BiLSTM of lstm_size between an encoder and a fresh decoder",
    )
    decoder_layers: int = Field(default=3, ge=1, description="of a fresh decoder")
    decoder_heads: int = Field(default=8, ge=1, description="of its attention")
    decoder_feed_forward: int = Field(default=1024, ge=1, description="its hidden size")
    decoder_dropout: float = Field(default=0.1, ge=0, lt=1, description="within it")
    encoder_mlp: bool = Field(
        default=True, description="an MLP on the encoder's states before they are pointed at"
    )
    state_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="share of the encoder's state in what is pointed at (alpha); the rest is the"
        " subword's embedding, which alone does not tell equal subwords apart",
    )
    output_dropout: float = Field(
        default=0.3, ge=0, lt=1, description="of decoder states and of embeddings pointed at"
    )

    @model_validator(mode="after")
    def _heads_divide_the_states(self) -> Seq2SeqSettings:
        if self.recurrent and self.lstm_size % self.decoder_heads:
            raise ValueError(
                f"decoder_heads must divide lstm_size: {self.lstm_size} / {self.decoder_heads}"
            )
        return self
