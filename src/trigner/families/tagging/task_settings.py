"""Settings of the tags' loss, for the schemes that leave a choice."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class MultiLabelTask(BaseModel):
    """The loss of a grid whose cells can have several tags."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    multi_label: Literal["zero_threshold", "binary"] = Field(
        default="zero_threshold", description="loss of a cell that can have several tags"
    )
    first_group: float = Field(
        default=0.5, ge=0, le=1, description="weight of the first of a scheme's two tag groups"
    )
    negative_rate: float = Field(
        default=1.0, gt=0, le=1, description="share of the cells without tags that are learnt from"
    )


class CorroTask(BaseModel):
    """The loss of `corro`, whose annotations leave component types open."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    partial_labels: Literal["soft", "hard", "first", "shared"] = Field(
        default="soft",
        description="what corro learns of component types: soft or hard EM, the first is x, or the"
        " one that all mentions of a set share is x (shared; soft EM where that decides nothing)",
    )
