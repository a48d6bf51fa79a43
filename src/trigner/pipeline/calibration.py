"""A model's temperature: what its logits are divided by so that scores are probabilities.

Guo et al., On Calibration of Modern Neural Networks, 2017. A mention's score is a product over the
cells of its path, so the temperature is chosen by the scores of whole mentions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from trigner.errors import InputError
from trigner.mentions import Document
from trigner.pipeline.extraction import Extractor
from trigner.systems import Calibrated, system_spec
from trigner.text import segment

if TYPE_CHECKING:
    from trigner.evaluation import Calibration

TEMPERATURES = tuple(float(t) for t in np.round(np.geomspace(0.25, 8, 41), 3))
"""Tried one by one; 1 is among them."""


def calibrate(extractor: Extractor, gold: Sequence[Document]) -> Calibration:
    """The temperature under which the scores of what is found in these documents fit best.

    Use documents that training did not see. A mention is right when it is one of the sentence's.
    Raises InputError for a system that has no temperature.
    """
    from trigner.evaluation import Predictions, best_temperature  # extraction needs none of it

    system_spec(extractor.system).require("calibration")
    predictor = cast(Calibrated, extractor.predictor)
    found: dict[float, tuple[list[float], list[bool]]] = {t: ([], []) for t in TEMPERATURES}
    for document in gold:
        sentences = segment(document).sentences
        for inputs in extractor.batches(predictor.prepare(sentences).inputs):
            for temperature, predictions in predictor.at_temperatures(inputs, TEMPERATURES).items():
                scores, right = found[temperature]
                for own, prediction in zip(inputs, predictions, strict=True):
                    expected = set(sentences[own.sentence].mentions)
                    scores += [scored.score for scored in prediction.mentions]
                    right += [scored.mention in expected for scored in prediction.mentions]
    return best_temperature({t: Predictions(*pairs) for t, pairs in found.items()})


def with_temperature(extractor: Extractor, temperature: float) -> Extractor:
    """The same extractor at another temperature; it no longer knows a folder to be loaded from.

    Raises InputError for one that is not a finite number above 0, and for a system without one.
    """
    system_spec(extractor.system).require("calibration")
    if not 0 < temperature < math.inf:
        raise InputError(f"a temperature is a finite number above 0, not {temperature}")
    predictor = cast(Calibrated, extractor.predictor).with_temperature(temperature)
    return replace(extractor, predictor=predictor, source=None)
