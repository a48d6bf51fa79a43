"""Every sequence that an automaton accepts, one by one."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np


@lru_cache(maxsize=64)
def accepted(automaton, length):
    """All well-formed sequences of tags, with the arcs they lead over."""
    found = [((), (), automaton.start)]
    for _ in range(length):
        found = [
            ((*tags, arc.tag), (*arcs, number), arc.target)
            for tags, arcs, state in found
            for number, arc in enumerate(automaton.arcs)
            if arc.source == state
        ]
    return [(tags, arcs) for tags, arcs, state in found if state in automaton.finals]


def weighed(automaton, scores):
    """Each well-formed sequence and its score; scores `[L, C]` or `[L, A]`."""
    by_arc = scores.shape[1] == len(automaton.arcs)
    return {
        tags: math.fsum(scores[n, c] for n, c in enumerate(arcs if by_arc else tags))
        for tags, arcs in accepted(automaton, len(scores))
    }


def log_partition(automaton, scores):
    return math.log(math.fsum(math.exp(score) for score in weighed(automaton, scores).values()))


def probability(automaton, scores, holds):
    """The probability that a sequence of tags is one for which `holds` is true."""
    weights = {tags: math.exp(score) for tags, score in weighed(automaton, scores).items()}
    return math.fsum(w for tags, w in weights.items() if holds(tags)) / math.fsum(weights.values())


def marginals(automaton, scores, tags):
    """`[L, C]` for `tags` tags."""
    found = np.zeros((len(scores), tags))
    for word in range(len(scores)):
        for tag in range(tags):
            found[word, tag] = probability(
                automaton, scores, lambda own, w=word, t=tag: own[w] == t
            )
    return found
