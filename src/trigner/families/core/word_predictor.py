"""What predictors have in common that read words with an encoder and have a temperature."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

import numpy as np

from trigner.batches import EncoderInputs, Example, Prepared
from trigner.errors import InputError
from trigner.mentions import Sentence
from trigner.systems import Prediction

Output = TypeVar("Output")

SMALLEST_SCORE = float(np.finfo(np.float64).tiny)
"""No score is zero: that of a very improbable mention may be too small to be written."""


@dataclass(frozen=True, kw_only=True)
class WordPredictor(ABC, Generic[Output]):
    """Sentences to inputs, inputs to outputs in one pass, an output to mentions at a temperature.

    An `Output` is what the pass gives for one input, without padding.
    """

    inputs: EncoderInputs
    temperature: float = 1.0

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
        pairs = list(zip(inputs, self.outputs(inputs), strict=True)) if inputs else []
        return {t: [self.prediction(*pair, t) for pair in pairs] for t in temperatures}

    def with_temperature(self, temperature: float) -> Self:
        """The same with another temperature."""
        return replace(self, temperature=temperature)

    @abstractmethod
    def outputs(self, inputs: Sequence[Example]) -> Sequence[Output]:
        """What the network gives for each of at least one input, at temperature 1."""

    @abstractmethod
    def prediction(self, example: Example, output: Output, temperature: float) -> Prediction:
        """The mentions of an input from its output."""


def check_finite(*scores: Any) -> None:
    """Raises InputError when an array of scores has a NaN or an infinite one."""
    if not all(np.isfinite(own).all() for own in scores):
        raise InputError("the model's scores are NaN or infinite: its weights are damaged")
