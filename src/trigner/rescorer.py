"""What a model folder keeps of a rescorer: a logistic regression on candidate mentions."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Weight = Annotated[float, Field(ge=-1e6, le=1e6)]
"""Far beyond what is fitted, and no sum of weighted features becomes infinite."""

Share = Annotated[float, Field(ge=0, le=1)]


class Rescorer(BaseModel):
    """A logistic regression that gives candidate mentions their scores (`tagging.rescoring`).

    `weights` are those of its features by name, `thresholds` the least scores that are kept, of
    continuous and of discontinuous mentions.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, strict=True)

    bias: Weight
    weights: dict[str, Weight]
    thresholds: Annotated[tuple[Share, Share], Field(strict=False)]


def gain(before: float, after: float) -> str:
    """What a rescorer does for F1 on dev, in words."""
    rates = f"{100 * before:.2f} without, {100 * after:.2f} with it"
    return f"F1 on dev {rates}, cross-validated"
