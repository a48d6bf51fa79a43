"""Settings of the mention hypergraph."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trigner.families.core import WordSettings
from trigner.families.hypergraph.graph import Graph, GraphKind
from trigner.families.hypergraph.reading import Reading


class HypergraphSettings(WordSettings):
    """Nodes, sizes and reading of system `hypergraph`."""

    graph: GraphKind = Field(
        default="start",
        description="nodes of each first word apart; or shared by all mentions as Muis and Lu's,"
        " or split by their number of segments",
    )
    max_segments: int = Field(default=3, ge=1, le=16, description="maximum segments of a mention")
    max_extent: int | None = Field(
        default=64,
        ge=1,
        description="maximum words from a mention's first to its last; none: no limit",
    )
    reading: Reading = Field(
        default="enough", description="enough paths to cover a structure's edges, or all"
    )
    decoding: Literal["best", "marginal"] = Field(
        default="best",
        description="the best structure, or all mentions of at least marginal_threshold",
    )
    marginal_threshold: float = Field(
        default=0.5, gt=0, lt=1, description="minimum probability of a mention"
    )
    hidden_size: int = Field(default=256, ge=1, description="hidden size of the layer of edges")
    start_rank: int = Field(
        default=64, ge=1, description="rank of the product of first word and word"
    )
    output_dropout: float = Field(
        default=0.3, ge=0, lt=1, description="dropout of the hidden layer"
    )

    def structure(self) -> Graph:
        """The graph's nodes."""
        return Graph(self.graph, self.max_segments, self.max_extent)

    def reading_of_gold(self) -> Reading:
        """The paths that come back of a structure that is certain: with marginals all of them."""
        return self.reading if self.decoding == "best" else "all"
