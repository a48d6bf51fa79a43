"""What networks are made of: a settings class for each kind of tagger, with its keys alone.

Numbers are those of W2NER's CADEC setting where it has them.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from trigner.batches import SPECIAL_WORDS
from trigner.families.core import WordSettings

Normalised = Literal["row", "column"]
PairMapKind = Literal["full", "low_rank"]


class TaggerSettings(WordSettings):
    """What every tagger has."""

    special_words: bool = Field(
        default=True, description="put [POS] and [NEG] before each sentence; triplets need them"
    )

    @property
    def leading_words(self) -> tuple[str, ...]:
        """The special words before each sentence."""
        return SPECIAL_WORDS if self.special_words else ()


class GridSettings(TaggerSettings):
    """W2NER's network over pairs of words, or with TriG-NER's co-predictor its own."""

    co_predictor: Literal["trigner", "w2ner"] = Field(
        default="trigner",
        description="TriG-NER's (pair map on word states) or W2NER's own (MLPs, biaffine)",
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
    pair_map: PairMapKind = Field(
        default="low_rank", description="the map that gives H^bi; of TriG-NER's co-predictor"
    )
    pair_size: int = Field(
        default=512, ge=1, description="width of H^bi; the rank of a low-rank map"
    )
    biaffine_size: int = Field(default=512, ge=1, description="hidden size of W2NER's own biaffine")
    grid_size: int = Field(default=120, ge=1, description="hidden size of the grid branch")
    feature_dropout: float = Field(
        default=0.5, ge=0, lt=1, description="of whole channels of pair features"
    )
    output_dropout: float = Field(default=0.33, ge=0, lt=1, description="inside the co-predictor")

    @model_validator(mode="after")
    def _dilations_are_positive(self) -> GridSettings:
        if min(self.dilations) < 1:
            raise ValueError("dilations must be at least 1")
        return self


class ToeRounds(BaseModel):
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


class ToeSettings(GridSettings):
    """TOE's network: word states that have read the tags, then a co-predictor a tag group."""

    dilations: tuple[int, ...] = Field(
        default=(1, 2), min_length=1, description="of the convolutions, one each"
    )
    chained: bool = Field(default=False, description="each convolution reads the one before it")
    toe: ToeRounds = Field(default_factory=ToeRounds)

    @model_validator(mode="after")
    def _heads_divide_the_states(self) -> ToeSettings:
        if self.lstm_size % self.toe.heads:
            raise ValueError(
                f"toe.heads must divide lstm_size: {self.lstm_size} / {self.toe.heads}"
            )
        return self


class SequenceLayer(BaseModel):
    """What comes between word vectors and tags in a network of a sequence scheme."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    # A linear layer over the encoder alone, as Corro publishes, finds less
    # (`research/results/systems.md`).
    layer: Literal["none", "hidden", "bilstm"] = Field(
        default="bilstm", description="between word vectors and tags; the BiLSTM has lstm_size"
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


class SequenceSettings(TaggerSettings):
    """A network that scores single words."""

    special_words: bool = Field(default=False, description="put [POS] and [NEG] before a sentence")
    sequence: SequenceLayer = Field(default_factory=SequenceLayer)
    output_dropout: float = Field(default=0.33, ge=0, lt=1, description="of the hidden layer")


class MacTaggers(BaseModel):
    """The two taggers of the schemes `mac` and `mac_minimal`."""

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


class MacSettings(TaggerSettings):
    """MAC's network: taggers of segments and of the links between them."""

    embedding_dropout: float = Field(default=0.2, ge=0, lt=1, description="of the word states")
    mac: MacTaggers = Field(default_factory=MacTaggers)
