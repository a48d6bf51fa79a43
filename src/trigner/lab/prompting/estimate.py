"""What a run will cost, estimated before anything is sent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from trigner.lab.prompting.cache import CompletionRequest

_TOKEN = re.compile(r"[^\W\d_]{1,6}|\d|_+|[^\w\s]{1,2}")

TOKEN_RULE = (  # no password
    "estimated: one token for 6 letters of a word, 2 punctuation marks or 1 digit"  # noqa: S105
)


def count_tokens(text: str) -> int:
    """About as many tokens as a model's tokenizer makes of an English prompt.

    No real tokenizer is used: those of hosted models are not available without a network.
    """
    return sum(1 for _ in _TOKEN.finditer(text))


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million prompt tokens and for a million completion tokens."""

    prompt: float
    completion: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """How many requests would be sent, how many are cached, and the tokens of those to be sent.

    `completion_tokens` is the most that the parameters allow; None when they set no limit.
    """

    requests: int
    cached: int
    prompt_tokens: int
    completion_tokens: int | None

    def max_cost(self, prices: Prices) -> float | None:
        """US dollars at most, by the estimated tokens; None without a limit on completions."""
        if self.completion_tokens is None:
            return None
        tokens = (self.prompt_tokens * prices.prompt, self.completion_tokens * prices.completion)
        return sum(tokens) / 1e6


def estimate(
    requests: Iterable[CompletionRequest], cached: Iterable[CompletionRequest]
) -> Estimate:
    """What sending `requests` would take; `cached` are those that have a completion already."""
    distinct = list({request.key: request for request in requests}.values())
    limits = [_limit(request.parameters) for request in distinct]
    return Estimate(
        requests=len(distinct),
        cached=len({request.key for request in cached}),
        prompt_tokens=sum(count_tokens(request.prompt) for request in distinct),
        completion_tokens=None if None in limits else sum(n for n in limits if n is not None),
    )


def _limit(parameters: Mapping[str, Any]) -> int | None:
    """The most tokens of an answer; None without a limit, such as the -1 of some servers."""
    for name in ("max_completion_tokens", "max_tokens"):
        given = parameters.get(name)
        if isinstance(given, (int, float)) and not isinstance(given, bool) and 1 <= given < inf:
            return int(given)
    return None
