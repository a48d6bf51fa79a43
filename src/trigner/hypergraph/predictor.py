"""Runs a hypergraph: inputs to scores, scores to mentions. Needs no PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trigner.arrays import Logits
from trigner.batches import Batch, EncoderInputs, Example, Prepared
from trigner.hypergraph.decoding import Chart, best, marginals
from trigner.hypergraph.graph import Graph
from trigner.hypergraph.reading import Found, mention_of
from trigner.hypergraph.settings import HypergraphSettings
from trigner.mentions import ScoredMention, Sentence
from trigner.systems import Prediction

Scorer = Callable[[Batch], tuple[Logits, Logits]]
"""A batch to the scores of T `[B, L, Y, F]` and of the other edges `[B, G, D, Y, R, 5]`."""

SMALLEST = float(np.finfo(np.float64).tiny)
"""No score is zero: that of a very improbable mention may be too small to be written."""


@dataclass(frozen=True)
class HypergraphPredictor:
    """Decodes exactly; a mention's score is its probability: that a set of mentions has it.

    Edge scores are divided by `temperature`. That changes no mention of the best structure.
    """

    scorer: Scorer
    labels: tuple[str, ...]
    settings: HypergraphSettings
    inputs: EncoderInputs
    temperature: float = 1.0

    @property
    def graph(self) -> Graph:
        """The nodes that scores are for."""
        return self.settings.structure()

    def prepare(self, sentences: Sequence[Sentence]) -> Prepared:
        """The sentences as inputs that the encoder can hold."""
        return self.inputs.prepare(sentences)

    def predict(self, inputs: Sequence[Example]) -> list[Prediction]:
        """The mentions of each input, as mentions of its sentence."""
        return self.at_temperatures(inputs, [self.temperature])[self.temperature]

    def at_temperatures(
        self, inputs: Sequence[Example], temperatures: Iterable[float]
    ) -> dict[float, list[Prediction]]:
        """What `predict` gives with each of these temperatures, from one pass of the network."""
        charts = self.charts(inputs)
        temperatures = list(temperatures)
        own = [self._predictions(*each, temperatures) for each in zip(inputs, charts, strict=True)]
        return {t: [each[number] for each in own] for number, t in enumerate(temperatures)}

    def with_temperature(self, temperature: float) -> HypergraphPredictor:
        """The same with another temperature."""
        return replace(self, temperature=temperature)

    def charts(self, inputs: Sequence[Example]) -> list[Chart]:
        """Each input's scores, at temperature 1."""
        if not inputs:
            return []
        starts, edges = self.scorer(self.inputs.collate(inputs))
        graph = self.graph
        return [
            Chart.of(graph, *scores, example.length)
            for example, scores in zip(inputs, zip(starts, edges, strict=True), strict=True)
        ]

    def _predictions(
        self, example: Example, chart: Chart, temperatures: Sequence[float]
    ) -> list[Prediction]:
        if self.settings.decoding == "best":
            structure, reading = chart.best(), self.settings.reading
            found = [best(chart.at(t), reading, structure) for t in temperatures]
        else:
            found = [marginals(chart.at(t), self.settings.marginal_threshold) for t in temperatures]
        return [
            Prediction.of(example, self._scored(each), bounded=not each.complete) for each in found
        ]

    def _scored(self, found: Found) -> list[ScoredMention]:
        scored = [
            ScoredMention(mention_of(path, self.labels), max(SMALLEST, float(np.exp(log))))
            for path, log in found.paths
        ]
        return sorted(scored, key=lambda each: (-each.score, each.mention))
