"""The sections of a training's settings that say what it sees and how it optimises."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

SelectBy = Literal["overall", "discontinuous"]

LARGEST_SEED = 2**32 - 1
"""Of NumPy's generators."""

AUTO_CELLS = 40_000

AUTO_UPDATES = 4_000
FEWEST_EPOCHS, MOST_EPOCHS = 6, 40
"""How long a training with `epochs=auto` is: round numbers (`research/decisions/epochs.md`)."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SamplingSettings(Section):
    """How often an epoch sees a sentence, all others once; sentences made of those there are."""

    discontinuous: float = Field(
        default=1.0,
        ge=1,
        description="times that an epoch sees a sentence with a discontinuous mention",
    )
    empty: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="share of the sentences without mentions, drawn anew for each epoch",
    )
    coordination: float = Field(
        default=0.0,
        ge=0,
        description="coordination augmentation: sentences made of mentions that share words, as"
        " share of the sentences with mentions, at most; none where no mention is discontinuous",
    )
    conjunctions: tuple[str, ...] = Field(
        default=("and", "or", "/", "("),
        min_length=1,
        description="what such a sentence puts in before the last member; an opening parenthesis"
        " is closed after it",
    )

    @field_validator("conjunctions")
    @classmethod
    def _words(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        if wrong := [own for own in given if own.split() != [own]]:
            raise ValueError(f"each must be one word or sign, got {wrong[0]!r}")
        return given


class OptimisationSettings(Section):
    """Rates, schedule, batches, and when to stop."""

    epochs: Annotated[int, Field(ge=1)] | Literal["auto"] = Field(
        default="auto",
        description="passes over the training sentences; auto: as many as make about 4,000 updates"
        " of full batches, from 6 to 40",
    )
    batch_size: int = Field(default=12, ge=1, description="sentences in a batch, at most")
    cell_budget: Annotated[int, Field(ge=1)] | Literal["auto"] | None = Field(
        default="auto",
        description="word pairs in a batch, at most; auto: 40,000, longer sentences alone;"
        " none: random batches, last dropped",
    )
    batch_weighting: Literal["cells", "equal"] = Field(
        default="cells",
        description="what a batch's loss counts: as much as it has word pairs (words where a scheme"
        " scores words; triplets for theirs), so that each counts alike in the corpus; equal: the"
        " mean over each batch, which weighs a sentence by the others in its batch",
    )
    learning_rate: float = Field(
        default=3e-3, gt=0, description="learning rate of all other weights"
    )
    weight_decay: float = Field(default=0.0, ge=0, description="AdamW's weight decay")
    warmup: float = Field(
        default=0.1, ge=0, lt=1, description="share of the updates in which the learning rates rise"
    )
    beta2: float = Field(default=0.999, ge=0, lt=1, description="AdamW's beta2")
    epsilon: float = Field(default=1e-8, gt=0, description="AdamW's epsilon")
    epsilon_to: Literal["corrected", "uncorrected"] = Field(
        default="corrected",
        description="whether epsilon is added to the root of AdamW's second moment after its"
        " bias correction, as PyTorch does, or before, as transformers' former AdamW did",
    )
    max_grad_norm: float = Field(default=5.0, gt=0, description="largest norm of the gradient")
    patience: int | None = Field(
        default=None, ge=1, description="stop after more than this many epochs without improvement"
    )
    dev_every: int = Field(
        default=1,
        ge=1,
        description="score dev after every n-th epoch and the last alone, which saves time where"
        " dev is large: the best of these is kept, and after them patience is looked at, which"
        " counts all epochs",
    )
    select_by: SelectBy = Field(default="overall", description="the dev F1 that chooses the epoch")
    distillation: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="with --teacher: what the teachers' probabilities count in the loss of the"
        " tags, which have the rest of 1",
    )
    precision: Literal["float32", "bfloat16"] = Field(
        default="float32",
        description="bfloat16: mixed precision in training and in evaluating its epochs, faster"
        " on GPUs and on CPUs with AMX; on most other CPUs slower",
    )
    deterministic: bool = Field(
        default=True,
        description="on CUDA take algorithms that give the same model each time; false: those that"
        " PyTorch takes, which may be faster",
    )

    def epochs_of(self, sentences: float) -> int:
        """Epochs of a training that sees so many sentences in each."""
        if self.epochs != "auto":
            return self.epochs
        wanted = math.ceil(AUTO_UPDATES * self.batch_size / max(1.0, sentences))
        return min(max(wanted, FEWEST_EPOCHS), MOST_EPOCHS)

    @property
    def cells(self) -> int | None:
        """Word pairs in a batch, at most; None: batches are not made by cost."""
        return AUTO_CELLS if self.cell_budget == "auto" else self.cell_budget


class EncoderOptimisation(OptimisationSettings):
    """The same around a pretrained encoder, which has a rate of its own."""

    encoder_lr: float = Field(
        default=1e-4, ge=0, description="learning rate of the pretrained encoder"
    )


class BiasedOptimisation(EncoderOptimisation):
    """The same of networks whose output biases can start at the tags' shares."""

    bias_init: bool = Field(
        default=False,
        description="initialise the output biases so that the scores of word pairs start at the"
        " share of cells that have each tag, over all training examples, however often an epoch"
        " draws them; not with --init-from",
    )
