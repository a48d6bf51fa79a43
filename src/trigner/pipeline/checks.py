"""What no system may predict: those of other packages are checked as they run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from numbers import Real
from typing import Any

from trigner.errors import TrignerError
from trigner.machine import counted
from trigner.mentions import ScoredMention, Sentence
from trigner.systems import Prediction

ROUNDING = 1e-4
"""So far above 1 may a product of probabilities in half precision be."""


def checked(
    predictions: Sequence[Prediction], inputs: int, labels: Collection[str], system: str
) -> Sequence[Prediction]:
    """The predictions on so many inputs.

    Raises TrignerError when there are not as many, and for a score that is no number from 0 to 1 or
    a type that the model does not have.
    """
    if len(predictions) != inputs:
        gave = f"{counted(len(predictions), 'prediction')} for {counted(inputs, 'input')}"
        raise TrignerError(f"the system {system} gave {gave}")
    for scored in (scored for prediction in predictions for scored in prediction.mentions):
        score: Any = scored.score
        if not (isinstance(score, Real) and 0 <= float(score) <= 1 + ROUNDING):
            raise TrignerError(
                f"the system {system} gave a mention the score {score!r}: a score is a number from"
                " 0 to 1"
            )
        if scored.mention.label not in labels:
            raise TrignerError(
                f"the system {system} found a {scored.mention.label!r}, which is none of the"
                f" model's types: {', '.join(sorted(labels))}"
            )
    return predictions


def check_words(scored: ScoredMention, sentence: Sentence, system: str) -> None:
    """Raises TrignerError for a mention of words that its sentence does not have."""
    words = scored.mention.words
    if words[-1] >= len(sentence.words):
        raise TrignerError(
            f"the system {system} found the words {words} in a sentence of"
            f" {counted(len(sentence.words), 'word')}: the first is 0"
        )
