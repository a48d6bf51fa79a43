"""What a run will cost, told before it is paid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trigner.prompting.answers import Question

_TOKEN = re.compile(r"[^\W\d_]{1,6}|\d|_+|[^\w\s]{1,2}")

BASIS = "estimated by a rule: a token for every 6 letters of a word, 2 marks or 1 digit"


def tokens(text: str) -> int:
    """About as many tokens as a model's tokenizer makes of an English prompt.

    No tokenizer of any model is used: those of hosted models are not at hand without a network.
    """
    return sum(1 for _ in _TOKEN.finditer(text))


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens of prompts and of answers."""

    prompt: float
    answer: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """Questions that are still to be asked, and what they amount to.

    `answer_tokens` is the most that the answers can have by the parameters; None: no limit is set.
    """

    questions: int
    recorded: int
    prompt_tokens: int
    answer_tokens: int | None

    def most(self, prices: Prices) -> float | None:
        """US dollars at most, by the estimated tokens; None when answers are not limited."""
        if self.answer_tokens is None:
            return None
        return (self.prompt_tokens * prices.prompt + self.answer_tokens * prices.answer) / 1e6


def estimate(questions: Iterable[Question], recorded: Iterable[Question]) -> Estimate:
    """What asking these questions amounts to; `recorded` are those that are answered already."""
    asked = list({question.key: question for question in questions}.values())
    limits = [_limit(question.parameters) for question in asked]
    return Estimate(
        questions=len(asked),
        recorded=len({question.key for question in recorded}),
        prompt_tokens=sum(tokens(question.prompt) for question in asked),
        answer_tokens=None if None in limits else sum(n for n in limits if n is not None),
    )


def _limit(parameters: Mapping[str, Any]) -> int | None:
    for name in ("max_completion_tokens", "max_tokens"):
        if isinstance(parameters.get(name), int):
            return int(parameters[name])
    return None
