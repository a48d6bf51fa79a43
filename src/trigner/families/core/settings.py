"""How a network over the words of a sentence reads them: settings of most systems."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from trigner.mentions import CONTEXT_WORDS

EmptyWord = Literal["zeros", "batch_minimum"]


class EncoderSettings(BaseModel):
    """What every network around a pretrained encoder has."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)

    encoder_layers: int = Field(default=4, ge=1, description="average this many last hidden states")
    lstm_size: int = Field(default=512, ge=2, multiple_of=2, description="features of a word state")
    embedding_dropout: float = Field(default=0.5, ge=0, lt=1, description="of the word states")


class WordSettings(EncoderSettings):
    """What every network has that pools subwords into words."""

    context_words: int = Field(
        default=0,
        ge=0,
        le=CONTEXT_WORDS,
        description="words of the document on each side of a sentence that the encoder reads along"
        " (FLERT, Schweter and Akbik 2020); mentions and scores stay the sentence's",
    )
    empty_word: EmptyWord = Field(
        default="zeros",
        description="state of a word that has no subwords; batch_minimum, as published, is the"
        " smallest value of the batch, so that results depend on it",
    )
