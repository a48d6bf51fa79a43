"""Settings of the transition-based parser."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trigner.families.core import WordSettings
from trigner.families.transition.parser import Rules


class TransitionSettings(WordSettings):
    """Actions, sizes and search of system `transition`."""

    actions: Literal["extended", "paper"] = Field(
        default="extended",
        description="the six of the paper, or with them SWAP and COPY, which make every mention"
        " expressible",
    )
    overlapping_reductions: bool = Field(
        default=False,
        description="let nodes that share words be reduced, as the released code's network does",
    )
    inexpressible_sentences: Literal["keep", "drop"] = Field(
        default="keep",
        description="sentences with mentions that the actions cannot express: train on their other"
        " mentions, or drop them from training as the paper",
    )
    action_size: int = Field(default=20, ge=1, description="features of an action in the history")
    hidden_size: int = Field(default=200, ge=1, description="hidden size of the layer of actions")
    output_dropout: float = Field(
        default=0.5, ge=0, lt=1, description="of the features of a state and of the action history"
    )
    beam_size: int = Field(
        default=1, ge=1, le=64, description="parses of a sentence kept at each step; 1: greedy"
    )

    def rules(self, labels: tuple[str, ...]) -> Rules:
        """What is legal for these entity types."""
        return Rules(len(labels), self.actions == "extended", self.overlapping_reductions)
