"""What the triplets are made of, and how their loss is computed (paper, section 3.3).

Most options of the candidates are a difference between what the paper intends and what the released
code does, or a question that the paper leaves open (`research/decisions/paper-preset.md`).
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Reduction = Literal["mean_violating", "mean_all", "sum"]

SOURCE_ALIASES = {"output": "logits", "Y": "logits", "grid": "pair_states", "H^bi": "pair_states"}

SELECTION_ALIASES: dict[str, str] = {
    "hard-negative": "hn",
    "semi-hard": "sn",
    "centroid": "ce",
    "negative-centroid": "nc",
    "semi-hard-or-hard": "sn-hn",
    # The released code's names; its README and its command line differ on one.
    "grid_hardneg": "hn",
    "grid_semineg": "sn",
    "grid_semihard": "sn",
    "grid_centroid": "ce",
    "grid_negcentroid": "nc",
}


class TripletSettings(BaseModel):
    """The triplet loss and its candidates; the defaults are those of the preset `clean`."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    weight: float = Field(
        default=0.001, ge=0, description="factor of the triplet loss; 0 switches it off"
    )
    source: Literal["logits", "pair_states", "projection"] = Field(
        default="logits",
        description="which cell vectors: scores of tags that are decoded (logits), or what the last"
        " layer before them reads: H^bi, of W2NER's co-predictor the grid branch (pair_states), or"
        " these through a projection head that training alone has (projection)",
    )
    selection: str = Field(
        default="centroid", description="hn, sn, ce, nc or sn-hn, or a long name"
    )
    margin: float = Field(default=1.0, gt=0, description="distance that a negative must be farther")
    metric: Literal["euclidean", "cosine"] = Field(
        default="euclidean", description="distance of cell vectors, in selection and loss"
    )
    reduction: Reduction = Field(
        default="mean_violating",
        description="mean over hinges above 0, over all, or their sum; parts of a batch add up"
        " exactly with the latter two alone",
    )
    window: int | None = Field(
        default=25,
        ge=0,
        description="reach of positives and negatives around the anchor, in words; 0 or none: no"
        " limit",
    )
    window_metric: Literal["euclid_rounded", "chebyshev", "manhattan"] = Field(
        default="euclid_rounded", description="shape of the window: disc, square or diamond"
    )
    window_from: Literal["word", "anchor"] = Field(
        default="word",
        description="centre of the window of a one-word entity t: (t, t), or its anchor cell at the"
        " edge of the grid",
    )
    unique_pairs: bool = Field(
        default=True,
        description="use each pair of cells in one order only: the earlier cell (row, then column)"
        " is the anchor",
    )
    unique_masks: Literal["positives", "both"] = Field(
        default="positives",
        description="what unique_pairs removes earlier cells from: positives, or also negatives in"
        " other entities",
    )
    per_entity: bool = Field(
        default=True,
        description="positives share an entity with the anchor, cells of other entities are"
        " negatives; false: all cells of entities are positives of one another",
    )
    full_grid: bool = Field(
        default=False, description="use the cells below the diagonal and on it too"
    )
    negatives: Literal["all", "inter_first", "non_entity"] = Field(
        default="all",
        description="cells of other entities and of none; of none only where there are no others;"
        " of none alone",
    )
    one_word_anchor: Literal["row", "column", "diagonal"] = Field(
        default="row",
        description="anchor cell of a one-word entity t: ([POS], t), (t, [POS]) or (t, t)",
    )
    special_positive: Literal["cell", "row_or_column"] = Field(
        default="cell",
        description="an anchor without positives gets ([POS], [POS]), unless it is a positive"
        " itself, or (row_or_column) shares a row or column with one",
    )

    @field_validator("selection")
    @classmethod
    def _known(cls, name: str) -> str:
        known = dict.fromkeys([*SELECTION_ALIASES.values(), *SELECTION_ALIASES])
        if name not in known:
            raise ValueError(f"unknown selection {name!r}; known are: {', '.join(known)}")
        return name

    @model_validator(mode="before")
    @classmethod
    def _aliases(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("source") in SOURCE_ALIASES:
            return {**data, "source": SOURCE_ALIASES[data["source"]]}
        return data
