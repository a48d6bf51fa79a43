"""Runs a segment network: sentences to inputs, scores to mentions. Needs no PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trigner.arrays import Logits
from trigner.batches import Batch, Example
from trigner.families.core import WordPredictor, check_finite
from trigner.families.hypergraph import Chart, Graph
from trigner.families.segments.decoding import SegmentScores, decode
from trigner.families.segments.format import SegmentFormat
from trigner.systems import Prediction


@dataclass(frozen=True, slots=True, eq=False)
class RawScores:
    """Scores of a batch, as in `SegmentScores`: `starts [B, L, Y, 1]`, `edges [B, L, D, Y, 1, 5]`,
    `parts [B, L, D, 4, P]`, `gaps [B, GAPS, P]`, `readout [B, P + 1, Y]`."""

    starts: Logits
    edges: Logits
    parts: Logits
    gaps: Logits
    readout: Logits

    def of(self, graph: Graph, row: int, length: int) -> SegmentScores:
        """Those of one sentence of `length` words, without padding."""
        chart = Chart.of(graph, self.starts[row], self.edges[row], length)
        parts = self.parts[row, :length, : chart.edges.shape[1]]
        shared = self.gaps[row], self.readout[row]
        return SegmentScores(graph, chart.starts, chart.edges, parts, *shared)


Scorer = Callable[[Batch], RawScores]


@dataclass(frozen=True)
class SegmentPredictor(WordPredictor[SegmentScores]):
    """The best set of segments, and of its combinations those that are mentions."""

    scorer: Scorer
    format: SegmentFormat
    graph: Graph

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that it can find."""
        return self.format.labels

    def outputs(self, inputs: Sequence[Example]) -> list[SegmentScores]:
        """Each input's scores."""
        raw = self.scorer(self.inputs.collate(inputs))
        scores = [raw.of(self.graph, row, each.length) for row, each in enumerate(inputs)]
        for own in scores:
            check_finite(own.starts, own.edges, own.parts, own.gaps, own.readout)
        return scores

    def prediction(self, example: Example, output: SegmentScores, temperature: float) -> Prediction:
        """The mentions that the format reads from the scores."""
        decoding = decode(self.format, output, temperature)
        return Prediction.of(example, decoding.mentions, bounded=not decoding.complete)
