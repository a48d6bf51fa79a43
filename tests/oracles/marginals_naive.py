"""The marginal of each mention from a sum of its own over the whole sentence, in logarithms."""

from __future__ import annotations

import numpy as np

from trigner.schemes.grammar import NO_TAG


def marginals(grammar, scores, tags, mentions):
    """Marginal probability that each mention's words have these tags, its segments ended, `[M]`."""
    everything = log_partition(grammar.automaton, scores, np.ones((1, *shape(grammar, tags)), bool))
    total = np.zeros(len(mentions))
    exchanged = np.array(grammar.exchanged)[tags]
    for own in (tags, exchanged):
        allowed = demands(grammar, own, mentions)
        differs = [(tags != own)[list(mention.words)].any() for mention in mentions]
        counts = np.array(differs) if own is exchanged else True
        total += counts * np.exp(log_partition(grammar.automaton, scores, allowed) - everything)
    return total


def shape(grammar, tags):
    return len(tags), len(grammar.tags)


def demands(grammar, tags, mentions):
    """The tags that words may have for each mention to be there, `[M, L, C]`."""
    allowed = np.ones((len(mentions), *shape(grammar, tags)), dtype=bool)
    for own, mention in zip(allowed, mentions, strict=True):
        own[mention.words[0] + 1 : mention.words[-1], list(grammar.opening)] = False
        for word in mention.words:
            following = grammar.continued[tags[word]]
            if word + 1 < len(tags) and following != NO_TAG:
                own[word + 1, following] = False
        words = list(mention.words)
        own[words] = False
        own[words, tags[words]] = True
        own[words[0], grammar.reopened[tags[words[0]]]] = True
    return allowed


def log_partition(automaton, scores, allowed):
    """Logarithm of the sum over sequences all of whose tags are allowed `[M, L, C]`: `[M]`."""
    scores = automaton.arc_scores(scores)
    values = np.full((len(allowed), len(automaton.states)), -np.inf)
    values[:, automaton.start] = 0
    for word in range(len(scores)):
        following = np.full_like(values, -np.inf)
        for number, arc in enumerate(automaton.arcs):
            way = values[:, arc.source] + scores[word, number]
            way = np.where(allowed[:, word, arc.tag], way, -np.inf)
            following[:, arc.target] = np.logaddexp(following[:, arc.target], way)
        values = following
    return np.logaddexp.reduce(values[:, list(automaton.finals)], axis=1)
