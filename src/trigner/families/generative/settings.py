"""The settings of the system `generative`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from trigner.systems import OptimisationSettings

Tuning = Literal["lora", "prompt", "full"]


class GenerativeOptimisation(OptimisationSettings):
    """The rate is LoRA's; a soft prompt wants some 100 times as much, all weights a tenth. An epoch
    takes many times as long as with an encoder, and few are needed."""

    learning_rate: float = Field(default=2e-4, gt=0, description="learning rate of what is tuned")
    epochs: Annotated[int, Field(ge=1)] | Literal["auto"] = Field(
        default=10, description="passes over the training sentences"
    )


class GenerativeSettings(BaseModel):
    """What is tuned of the language model, and how it writes."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)

    tuning: Tuning = Field(
        default="lora",
        description="what is learnt: low-rank changes of all linear layers (LoRA), vectors before"
        " the prompt, or all weights",
    )
    lora_rank: int = Field(default=16, ge=1, description="rank of LoRA's matrices")
    lora_alpha: int = Field(
        default=32, ge=1, description="LoRA's changes are scaled by alpha / rank"
    )
    lora_dropout: float = Field(
        default=0.05, ge=0, lt=1, description="dropout on the inputs of LoRA's matrices"
    )
    prompt_size: int = Field(default=20, ge=1, description="vectors before the prompt")
    length_base: int = Field(
        default=30, ge=2, description="maximum output subwords of a sentence, before length_ratio"
    )
    length_ratio: float = Field(
        default=3.0, ge=0, description="additional output subwords per input subword"
    )
    beam_size: int = Field(
        default=1, ge=1, le=64, description="hypotheses of a sentence; 1: greedy"
    )
    length_penalty: float = Field(
        default=1.0, ge=0, description="log-probabilities are divided by length to this power"
    )
