"""What all predictors that read words share: one pass for several temperatures, checked scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from tiny_models import TEXT
from trigner.batches.examples import Example
from trigner.families.core.word_predictor import WordPredictor, check_finite
from trigner.mentions import Document, Mention, ScoredMention
from trigner.systems.protocols import Prediction
from trigner.text.segmentation import segment

SENTENCES = segment(Document("d", TEXT)).sentences


@dataclass(frozen=True)
class FirstWords(WordPredictor[float]):
    """Gives each input's first word, with a score that falls with the temperature."""

    passes: list[int] = field(default_factory=list)

    def outputs(self, inputs: Sequence[Example]) -> list[float]:
        self.passes.append(len(inputs))
        return [float(each.length) for each in inputs]

    def prediction(self, example: Example, output: float, temperature: float) -> Prediction:
        score = float(np.exp(-output * temperature))
        return Prediction.of(example, [ScoredMention(Mention((0,), "A"), score)], bounded=False)


@pytest.fixture
def predictor(tiny):
    return FirstWords(inputs=tiny().inputs)


def test_several_temperatures_take_one_pass(predictor):
    inputs = predictor.prepare(SENTENCES).inputs
    found = predictor.at_temperatures(inputs, [1.0, 2.0])
    assert predictor.passes == [len(inputs)]
    for temperature, predictions in found.items():
        assert predictions == predictor.with_temperature(temperature).predict(inputs)
    assert found[1.0] != found[2.0]


def test_nothing_to_predict_takes_no_pass(predictor):
    assert predictor.predict([]) == []
    assert not predictor.passes


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_are_refused(bad, refused):
    check_finite(np.zeros(3), np.ones((2, 2)))
    with refused():
        check_finite(np.zeros(3), np.array([0.0, bad]))
