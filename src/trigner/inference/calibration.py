"""A model's temperature: what its logits are divided by so that scores are probabilities.

Guo et al., On Calibration of Modern Neural Networks, 2017. A mention's score is a product over the
cells of its path, so the temperature is chosen by the scores of whole mentions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from trigner.evaluation import Calibration, Predictions, best_temperature
from trigner.inference.extraction import Extractor, RunStatistics
from trigner.mentions import Document
from trigner.text import segment

TEMPERATURES = tuple(float(t) for t in np.round(np.geomspace(0.25, 8, 41), 3))
"""Tried one by one; 1 is among them."""


def calibrate(extractor: Extractor, gold: Sequence[Document]) -> Calibration:
    """The temperature under which the scores of what is found in these documents fit best.

    Use documents that training did not see. A mention is right when it is one of the sentence's.
    """
    at = {t: replace(extractor, temperature=t, tally=RunStatistics()) for t in TEMPERATURES}
    found: dict[float, tuple[list[float], list[bool]]] = {t: ([], []) for t in TEMPERATURES}
    for document in gold:
        sentences = segment(document).sentences
        for example, logits in extractor.scored(sentences):
            expected = set(sentences[example.sentence].mentions)
            for temperature, (scores, right) in found.items():
                for scored in at[temperature].decode(example, logits).mentions:
                    scores.append(scored.score)
                    right.append(scored.mention in expected)
    return best_temperature({t: Predictions(*pairs) for t, pairs in found.items()})
