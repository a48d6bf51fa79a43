"""Runs a span network: sentences to inputs, scores to mentions. Needs no PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trigner.arrays import Integers, Logits
from trigner.batches import Batch, Example
from trigner.families.core import WordPredictor, check_finite
from trigner.families.spans.fragments import FragmentFormat, SpanScores
from trigner.systems import Prediction


@dataclass(frozen=True, slots=True, eq=False)
class RawScores:
    """Scores of a batch: `fragments [B, L, W, C]` of the spans by first word and words behind it,
    `kept [B, K]` indices of spans, -1 for none, `relations [B, K, K, 2]`."""

    fragments: Logits
    kept: Integers
    relations: Logits

    def of(self, row: int, length: int) -> SpanScores:
        """Those of one sentence of `length` words, without padding."""
        _, _, width, classes = self.fragments.shape
        first = np.repeat(np.arange(length), width)
        last = first + np.tile(np.arange(width), length)
        (real,) = np.nonzero(last < length)
        place = np.full(len(first), -1)
        place[real] = np.arange(len(real))
        inside = self.kept[row] >= 0
        return SpanScores(
            np.stack([first[real], last[real]], axis=1),
            self.fragments[row, :length].reshape(-1, classes)[real],
            place[self.kept[row, inside]],
            self.relations[row][np.ix_(inside, inside)],
        )


Scorer = Callable[[Batch], RawScores]


@dataclass(frozen=True)
class SpanPredictor(WordPredictor[SpanScores]):
    """Predicts with a format from a network's scores, which are divided by `temperature`.

    That makes scores probabilities (`pipeline.calibration`) and changes no mention.
    """

    scorer: Scorer
    format: FragmentFormat

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that it can find."""
        return self.format.labels

    def outputs(self, inputs: Sequence[Example]) -> list[SpanScores]:
        """Each input's scores."""
        raw = self.scorer(self.inputs.collate(inputs))
        scores = [raw.of(row, each.length) for row, each in enumerate(inputs)]
        check_finite(*(array for own in scores for array in (own.fragments, own.relations)))
        return scores

    def prediction(self, example: Example, output: SpanScores, temperature: float) -> Prediction:
        """The mentions that the format reads from the scores."""
        calibrated = replace(
            output,
            fragments=output.fragments / temperature,
            relations=output.relations / temperature,
        )
        decoding = self.format.decode(calibrated)
        return Prediction.of(example, decoding.mentions, bounded=not decoding.complete)
