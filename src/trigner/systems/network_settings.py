"""What networks are made of: the own settings of the systems that are tag schemes."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from trigner.batches import SPECIAL_WORDS
from trigner.mentions import CONTEXT_WORDS

EmptyWord = Literal["zeros", "batch_minimum"]
Normalised = Literal["row", "column"]
PairMapKind = Literal["full", "folded", "low_rank"]


class SequenceSettings(BaseModel):
    """What comes between word vectors and tags in a network of a sequence scheme."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    layer: Literal["none", "hidden", "bilstm"] = Field(
        default="none", description="between word vectors and tags; the BiLSTM has lstm_size"
    )
    hidden_size: int = Field(default=256, ge=1, description="size of the hidden layer")
    transitions: bool = Field(
        default=False, description="learn a weight for each pair of neighbouring tags"
    )

    @field_validator("layer", mode="before")
    @classmethod
    def _no_layer(cls, layer: object) -> object:
        """`--set model.sequence.layer=none` is None, as everywhere."""
        return "none" if layer is None else layer


class ToeSettings(BaseModel):
    """The rounds of tag representations of scheme `toe`."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)

    rounds: int = Field(default=3, ge=1, description="refinement rounds of the pair scores")
    table_size: int = Field(default=49, ge=1, description="scores of a pair within a round")
    heads: int = Field(default=8, ge=1, description="of the attention; they divide lstm_size")
    feed_forward: int = Field(default=2048, ge=1, description="hidden size of the attention layer")
    dropout: float = Field(default=0.1, ge=0, lt=1, description="within the attention layer")
    mask_padding: bool = Field(
        default=True,
        description="keep padding out of pooling and attention; without, as published, results"
        " depend on the batch",
    )


class MacSettings(BaseModel):
    """What only the schemes mac and mac_minimal have."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    recurrent: bool = Field(
        default=False, description="read the words through a BiLSTM of lstm_size first, as W2NER"
    )
    size: int = Field(default=384, ge=2, description="features of a word in each of the taggers")
    span_size: int = Field(default=192, ge=1, description="features of the LSTM over a span")
    span_reach: int | None = Field(
        default=64, ge=1, description="words of a span that its LSTM reads, at most; none: all"
    )
    length_size: int = Field(default=64, ge=1, description="features of a span's length")
    squared_norm: bool = Field(
        default=False, description="divide by the squared variance, as the released code does"
    )


class WordSettings(BaseModel):
    """What every network over the words of a sentence has: how it reads them."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)

    context_words: int = Field(
        default=0,
        ge=0,
        le=CONTEXT_WORDS,
        description="words of the document on each side of a sentence that the encoder reads along"
        " (FLERT, Schweter and Akbik 2020); mentions and scores stay the sentence's",
    )
    encoder_layers: int = Field(default=4, ge=1, description="average this many last hidden states")
    empty_word: EmptyWord = Field(
        default="zeros",
        description="state of a word that has no subwords; batch_minimum, as published, is the"
        " smallest value of the batch, so that results depend on it",
    )
    lstm_size: int = Field(default=512, ge=2, multiple_of=2, description="features of a word state")
    embedding_dropout: float = Field(default=0.5, ge=0, lt=1, description="of the word states")


class NetworkSettings(WordSettings):
    """Sizes, rates and switches of a tagger. Numbers are those of W2NER's CADEC setting."""

    co_predictor: Literal["trigner", "w2ner"] = Field(
        default="trigner",
        description="TriG-NER's (pair map on word states) or W2NER's own (MLPs, biaffine)",
    )
    special_words: bool = Field(
        default=True, description="put [POS] and [NEG] before each sentence; triplets need them"
    )
    distance_size: int = Field(default=20, ge=1, description="features of two words' distance")
    region_size: int = Field(
        default=20, ge=1, description="features of a cell's side of the diagonal"
    )
    channels: int = Field(default=80, ge=1, description="channels of the convolution block")
    dilations: tuple[int, ...] = Field(
        default=(1, 2, 3), min_length=1, description="of the convolutions, one each"
    )
    chained: bool = Field(default=True, description="each convolution reads the one before it")
    normalised: Normalised = Field(
        default="row", description="word that the conditional norm normalises"
    )
    mask_between: bool = Field(
        default=True,
        description="zero padding between convolutions; without, as published, results depend on"
        " the batch",
    )
    pair_map: PairMapKind = Field(default="low_rank", description="the map that gives H^bi")
    pair_size: int = Field(
        default=512, ge=1, description="width of H^bi; the rank of a low-rank map"
    )
    biaffine_size: int = Field(default=512, ge=1, description="hidden size of W2NER's own biaffine")
    grid_size: int = Field(default=120, ge=1, description="hidden size of the grid branch")
    toe: ToeSettings = Field(default_factory=ToeSettings)
    sequence: SequenceSettings = Field(default_factory=SequenceSettings)
    mac: MacSettings = Field(default_factory=MacSettings)
    feature_dropout: float = Field(
        default=0.5, ge=0, lt=1, description="of whole channels of pair features"
    )
    output_dropout: float = Field(default=0.33, ge=0, lt=1, description="inside the co-predictor")

    @model_validator(mode="after")
    def _dilations_are_positive(self) -> NetworkSettings:
        if min(self.dilations) < 1:
            raise ValueError("dilations must be at least 1")
        return self

    @property
    def leading_words(self) -> tuple[str, ...]:
        """The special words before each sentence."""
        return SPECIAL_WORDS if self.special_words else ()


class ToeNetworkSettings(NetworkSettings):
    """The same for scheme `toe`, whose attention heads share the word states."""

    @model_validator(mode="after")
    def _heads_divide_the_states(self) -> ToeNetworkSettings:
        if self.lstm_size % self.toe.heads:
            raise ValueError(
                f"toe.heads must divide lstm_size: {self.lstm_size} / {self.toe.heads}"
            )
        return self
