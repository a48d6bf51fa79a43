"""Which cells become anchors, positives and negatives (paper, section 3.3).

Each option is one difference between what is intended and what the released code does, or one open
question of the paper; `docs/decisions/triplet-presets.md` lists them with their item numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, get_args, get_type_hints

from trigner.errors import InputError

WindowMetric = Literal["euclid_rounded", "chebyshev", "manhattan"]
WindowFrom = Literal["word", "anchor"]
UniqueMasks = Literal["positives", "both"]
Negatives = Literal["all", "inter_first", "non_entity"]
OneWordAnchor = Literal["row", "column", "diagonal"]
SpecialPositive = Literal["cell", "row_or_column"]


@dataclass(frozen=True, slots=True)
class CandidateSettings:
    """How the cells of a sentence become candidates. The defaults are the preset `clean`.

    Raises InputError when a value is not one of an option's, or a window is negative.
    """

    window: int | None = 25
    """Reach of positives and negatives around the anchor, in words. None or 0: no limit."""

    window_metric: WindowMetric = "euclid_rounded"
    """How far two cells are apart: rounded Euclidean (a disc), the larger of the two offsets (a
    square block, as the paper's figure draws it), or their sum."""

    window_from: WindowFrom = "word"
    """Where the cell of a one-word entity `t` stands in a window: at the word's own cell `(t, t)`,
    or where the anchor cell itself is, at the edge of the grid."""

    unique_pairs: bool = True
    """Use a pair of cells in one order only: the earlier cell (row, then column) is the anchor."""

    unique_masks: UniqueMasks = "positives"
    """What `unique_pairs` drops earlier cells from: positives, or other entities' cells too."""

    per_entity: bool = True
    """Positives share an entity with the anchor, cells of other entities are negatives. Otherwise
    all cells of all entities are one another's positives, and no negatives."""

    full_grid: bool = False
    """Below and on the diagonal too: mirror cells, and the diagonal cells of an entity's words."""

    negatives: Negatives = "all"
    """Other entities' cells and cells of no entity; the latter only where an anchor has none of the
    former; or the latter alone."""

    one_word_anchor: OneWordAnchor = "row"
    """The anchor cell of a one-word entity `t`: `([POS], t)`, `(t, [POS])` or `(t, t)`."""

    special_positive: SpecialPositive = "cell"
    """An anchor without positives gets `([POS], [POS])` unless it serves as a positive itself: it
    is that very cell, or (by the released code's test) shares a row or a column with one."""

    def __post_init__(self) -> None:
        if self.window is not None and self.window < 0:
            raise InputError(f"window must be 0 or none (no limit) or more; got {self.window}")
        hints = get_type_hints(type(self))
        for option in fields(self):
            known = get_args(hints[option.name])
            value = getattr(self, option.name)
            if known and isinstance(known[0], str) and value not in known:
                raise InputError(f"{option.name} must be one of {', '.join(known)}; got {value!r}")


CLEAN = CandidateSettings()
"""The intended behaviour."""

PAPER = CandidateSettings(
    unique_masks="both", window_from="anchor", special_positive="row_or_column"
)
"""What the released code does: the candidates behind the published numbers."""
