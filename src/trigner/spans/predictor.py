"""Runs a span network: sentences to inputs, scores to mentions. Needs no PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trigner.arrays import Integers, Logits
from trigner.batches import Batch, EncoderInputs, Example
from trigner.mentions import Sentence
from trigner.spans.fragments import FragmentFormat, SpanScores
from trigner.systems import Prediction, Prepared


@dataclass(frozen=True, slots=True, eq=False)
class RawScores:
    """Scores of a batch: `fragments [B, L, W, T]` of the spans by first word and words behind it,
    `kept [B, K]` indices of spans, -1 for none, `relations [B, K, K, 2]`."""

    fragments: Logits
    kept: Integers
    relations: Logits

    def of(self, row: int, length: int) -> SpanScores:
        """Those of one sentence of `length` words, without padding."""
        _, _, width, types = self.fragments.shape
        first = np.repeat(np.arange(length), width)
        last = first + np.tile(np.arange(width), length)
        (real,) = np.nonzero(last < length)
        place = np.full(len(first), -1)
        place[real] = np.arange(len(real))
        inside = self.kept[row] >= 0
        return SpanScores(
            np.stack([first[real], last[real]], axis=1),
            self.fragments[row, :length].reshape(-1, types)[real],
            place[self.kept[row, inside]],
            self.relations[row][np.ix_(inside, inside)],
        )


Scorer = Callable[[Batch], RawScores]


@dataclass(frozen=True)
class SpanPredictor:
    """Predicts with a format from a network's scores, which are divided by `temperature`.

    That makes scores probabilities (`inference.calibration`) and changes no mention.
    """

    scorer: Scorer
    format: FragmentFormat
    inputs: EncoderInputs
    temperature: float = 1.0

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that it can find."""
        return self.format.labels

    def prepare(self, sentences: Sequence[Sentence]) -> Prepared:
        """The sentences as inputs that the encoder can hold."""
        return self.inputs.prepare(sentences)

    def predict(self, inputs: Sequence[Example]) -> list[Prediction]:
        """The mentions of each input, as mentions of its sentence."""
        return [self._decode(*each) for each in zip(inputs, self._scores(inputs), strict=True)]

    def at_temperatures(
        self, inputs: Sequence[Example], temperatures: Iterable[float]
    ) -> dict[float, list[Prediction]]:
        """What `predict` gives with each of these temperatures, from one pass of the network."""
        scores = self._scores(inputs)
        found = {}
        for temperature in temperatures:
            other = self.with_temperature(temperature)
            found[temperature] = [other._decode(*p) for p in zip(inputs, scores, strict=True)]
        return found

    def with_temperature(self, temperature: float) -> SpanPredictor:
        """The same with another temperature."""
        return replace(self, temperature=temperature)

    def _scores(self, inputs: Sequence[Example]) -> list[SpanScores]:
        raw = self.scorer(self.inputs.collate(inputs))
        return [raw.of(row, each.length) for row, each in enumerate(inputs)]

    def _decode(self, example: Example, scores: SpanScores) -> Prediction:
        calibrated = replace(
            scores,
            fragments=scores.fragments / self.temperature,
            relations=scores.relations / self.temperature,
        )
        decoding = self.format.decode(calibrated)
        return Prediction.of(example, decoding.mentions, bounded=not decoding.complete)
