"""Runs a hypergraph: inputs to scores, scores to mentions. Needs no PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trigner.arrays import Logits
from trigner.batches import Batch, Example
from trigner.families.core import SMALLEST_SCORE, WordPredictor, check_finite
from trigner.families.hypergraph.decoding import Chart, best, marginals, scored
from trigner.families.hypergraph.graph import Graph
from trigner.families.hypergraph.reading import FoundPaths, mention_of
from trigner.families.hypergraph.settings import HypergraphSettings
from trigner.mentions import ScoredMention
from trigner.systems import Prediction

Scorer = Callable[[Batch], tuple[Logits, Logits]]
"""A batch to the scores of T `[B, L, Y, F]` and of the other edges `[B, G, D, Y, R, 5]`."""


@dataclass(frozen=True)
class HypergraphPredictor(WordPredictor[Chart]):
    """Decodes exactly; a mention's score is its probability: that a set of mentions has it.

    The scores of its edges are divided by `temperature`, after the mentions are chosen.
    """

    scorer: Scorer
    labels: tuple[str, ...]
    settings: HypergraphSettings

    @property
    def graph(self) -> Graph:
        """The nodes that scores are for."""
        return self.settings.structure()

    def outputs(self, inputs: Sequence[Example]) -> list[Chart]:
        """Each input's scores."""
        starts, edges = self.scorer(self.inputs.collate(inputs))
        charts = [
            Chart.of(self.graph, *scores, example.length)
            for example, scores in zip(inputs, zip(starts, edges, strict=True), strict=True)
        ]
        check_finite(*(scores for chart in charts for scores in (chart.starts, chart.edges)))
        return charts

    def prediction(self, example: Example, output: Chart, temperature: float) -> Prediction:
        """The best structure's mentions, or those whose marginals are high enough."""
        chart, settings = output.at(temperature), self.settings
        if settings.decoding == "best":
            found = best(chart, settings.reading, output.best)
        else:
            found = marginals(output, settings.marginal_threshold)
            found = scored(chart, (path for path, _ in found.paths), complete=found.complete)
        return Prediction.of(example, self._scored(found), bounded=not found.complete)

    def _scored(self, found: FoundPaths) -> list[ScoredMention]:
        scored = [
            ScoredMention(mention_of(path, self.labels), max(SMALLEST_SCORE, float(np.exp(log))))
            for path, log in found.paths
        ]
        return sorted(scored, key=lambda each: (-each.score, each.mention))
