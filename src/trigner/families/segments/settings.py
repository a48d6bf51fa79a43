"""The settings of the segment system."""

from __future__ import annotations

from pydantic import Field

from trigner.families.core import WordSettings
from trigner.families.hypergraph import Graph
from trigner.families.segments.format import SegmentFormat


class SegmentSettings(WordSettings):
    """Which segments and combinations there are, and the sizes of what scores them."""

    max_width: int = Field(
        default=12, ge=1, description="words of a segment at most (6 in the article)"
    )
    max_segments: int = Field(default=3, ge=1, le=8, description="maximum segments of a mention")
    pair_gap: int = Field(
        default=32, ge=1, description="words between two segments at most (16 in the article)"
    )
    chain_gap: int = Field(
        default=16,
        ge=1,
        description="words between neighbours of three or more segments at most (2 in the article)",
    )
    max_candidates: int = Field(
        default=1000,
        ge=1,
        description="combinations of each type and number of segments that are decided on, a"
        " sentence; the best by their segments' scores",
    )
    predicted_negatives: bool = Field(
        default=False,
        description="learn combinations of the segments that the network finds, too, and not of"
        " the annotated ones alone, as the article",
    )
    width_size: int = Field(default=20, ge=1, description="features of a segment's width")
    hidden_size: int = Field(default=150, ge=1, description="hidden size of the layer of segments")
    combination_size: int = Field(
        default=64, ge=1, description="hidden size of the classifier of combinations"
    )
    output_dropout: float = Field(
        default=0.3, ge=0, lt=1, description="of the hidden layer of segments"
    )

    def structure(self) -> Graph:
        """The graph whose paths are segments: that of `hypergraph` for mentions of one segment."""
        return Graph("start", 1, self.max_width)

    def format(self, labels: tuple[str, ...]) -> SegmentFormat:
        """The format that settings choose."""
        return SegmentFormat(
            labels,
            self.max_width,
            self.max_segments,
            self.pair_gap,
            self.chain_gap,
            self.max_candidates,
        )
