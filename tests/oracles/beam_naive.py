"""Beam search as in the textbook: one sentence, one hypothesis at a time, nothing kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Tokens = tuple[int, ...]


def naive_beam(
    following: Callable[[Tokens], Mapping[int, float]],
    *,
    end: int,
    limit: int,
    beam_size: int,
    length_penalty: float,
    enough: int = 1,
) -> tuple[Tokens, bool]:
    """The output and whether it was found before the limit.

    `following` gives the log-probability of each token that may come behind these. The search is
    over when `enough` outputs have ended of which each is worth more than any that goes on.
    """
    live: list[tuple[float, Tokens]] = [(0.0, ())]
    ended: list[tuple[float, Tokens]] = []
    for length in range(1, limit + 1):
        ranked = sorted(
            ((s + p, (*tokens, t)) for s, tokens in live for t, p in following(tokens).items()),
            reverse=True,
        )
        ended += [
            (score / length**length_penalty, tokens)
            for score, tokens in ranked[:beam_size]
            if tokens[-1] == end
        ]
        live = [pair for pair in ranked[: 2 * beam_size] if pair[1][-1] != end][:beam_size]
        best = sorted(ended, reverse=True)[:enough]
        done = len(best) == enough
        if not live or (done and best[-1][0] >= live[0][0] / length**length_penalty):
            return max(ended)[1], True
    return (max(ended)[1] if ended else live[0][1]), False
