"""The settings of the span system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import Field

from trigner.families.core import WordSettings
from trigner.families.spans.fragments import MAX_WIDTH, FragmentFormat, Reading

if TYPE_CHECKING:
    from torch import Tensor

Count = TypeVar("Count", int, "Tensor")

Pruning = Literal["fragments", "relations"]


class SpanSettings(WordSettings):
    """The section `model` of a training with this system."""

    max_width: int = Field(
        default=MAX_WIDTH, ge=1, description="words of a fragment at most (6 in the article)"
    )
    width_size: int = Field(default=20, ge=1, description="features of a span's width")
    hidden_size: int = Field(
        default=150, ge=1, description="hidden size of the scorers of spans and of pairs of spans"
    )
    kept: float = Field(
        default=0.5, gt=0, le=1, description="spans whose relations are scored, per word"
    )
    pruning: Pruning = Field(
        default="fragments",
        description="what the score that chooses these spans learns: which are fragments; or, as in"
        " the released code, only to have relations, as a part of their scores",
    )
    propagation: int = Field(
        default=1, ge=0, description="rounds in which the spans kept read those related to them"
    )
    reading: Reading = Field(
        default="cliques",
        description="a mention is a maximal clique of fragments, or as in the released code a"
        " fragment with all that are combined with it, if all are related",
    )
    fragment_roles: bool = Field(
        default=True,
        description="score a fragment as a whole mention and as a part of one, so that a part whose"
        " relations are missed is no mention; false, as in the article: alike",
    )
    output_dropout: float = Field(
        default=0.33, ge=0, lt=1, description="of the hidden layers that score spans and pairs"
    )

    def format(self, labels: tuple[str, ...]) -> FragmentFormat:
        """How mentions of these entity types become fragments."""
        return FragmentFormat(labels, self.max_width, self.reading, self.fragment_roles)


def kept_of(words: Count, share: float) -> Count:
    """How many spans of sentences are kept: this share of the words, rounded up.

    The share is taken in whole percents, so that the number is exact on every device.
    """
    return (words * max(1, round(100 * share)) + 99) // 100
