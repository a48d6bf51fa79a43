"""Marginal probabilities of mentions under the distribution over well-formed sequences of tags.

A mention constrains the tags from its first word to the one after its last. The distribution is a
Markov chain, so it is enough to walk over these words: a row of state probabilities for each
segment of a mention, and all rows advance together, word by word. Mentions that begin with the same
segments share their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trigner.arrays import Floats, Integers
from trigner.mentions import Mention
from trigner.schemes.automaton import Distribution
from trigner.schemes.grammar import Grammar


def marginals(
    grammar: Grammar, distribution: Distribution, tags: Integers, mentions: Sequence[Mention]
) -> Floats:
    """Marginal probability that each mention's words have these tags and its segments end, `[M]`.

    Exact sums over all well-formed sequences, whatever the tags of other words, over both namings
    of the component types, and wherever the set begins.
    """
    prefixes = prefixes_of(mentions)
    total = _as_named(grammar, distribution, tags, prefixes)
    exchanged = grammar.exchange[tags]
    typed = set(np.flatnonzero(exchanged != tags).tolist())
    if typed:
        twice = [not typed.isdisjoint(mention.words) for mention in mentions]
        total += _as_named(grammar, distribution, exchanged, prefixes) * twice
    return total.clip(0.0, 1.0)


@dataclass(frozen=True)
class Prefixes:
    """Prefixes of mentions in segments; `first` and `last` word of the last segment of each, `[N]`.

    `before` is the prefix one segment shorter, -1 for none; `until` the last word at which another
    segment may follow; `whole [M]` the prefix that is each mention as a whole.
    """

    first: Integers
    last: Integers
    before: Integers
    until: Integers
    whole: Integers


def prefixes_of(mentions: Sequence[Mention]) -> Prefixes:
    """The prefixes of mentions, each once and after the prefix that is a segment shorter."""
    numbers: dict[tuple[int, int, int], int] = {}
    whole = []
    for mention in mentions:
        number = -1
        for first, last in mention.segments:
            number = numbers.setdefault((number, first, last), len(numbers))
        whole.append(number)
    table = np.array(list(numbers), dtype=np.int64).reshape(-1, 3)
    before, firsts, lasts = table[:, 0], table[:, 1], table[:, 2]
    until = np.zeros(len(numbers), dtype=np.int64)
    np.maximum.at(until, before[before >= 0], firsts[before >= 0])
    return Prefixes(firsts, lasts, before, until, np.array(whole, dtype=np.int64))


def _as_named(
    grammar: Grammar, distribution: Distribution, tags: Integers, prefixes: Prefixes
) -> Floats:
    """`marginals` with this naming of the component types only, `[M]`."""
    automaton = distribution.automaton
    reads = automaton.arc_tags
    rows = np.zeros((len(prefixes.first), len(automaton.states)))
    found = np.zeros(len(rows))
    order = np.argsort(prefixes.first, kind="stable")
    starts = np.searchsorted(prefixes.first[order], np.arange(len(tags) + 1))
    inside = ended = waiting = order[:0]
    # No other set begins between the words of a mention.
    between = ~np.isin(reads, grammar.opening)
    ends = np.ones(len(reads), dtype=bool)
    for word, tag in enumerate(tags.tolist()):
        new = order[starts[word] : starts[word + 1]]
        is_first = prefixes.before[new] < 0
        first, later = new[is_first], new[~is_first]
        rows[first] = distribution.states[word]
        rows[later] = rows[prefixes.before[later]]
        inside = np.concatenate([inside, later])
        waiting = waiting[prefixes.until[waiting] > word]
        ended = ended[prefixes.until[ended] > word]
        for group, arcs in (
            (first, (reads == tag) | (reads == grammar.reopened[tag])),
            (inside, reads == tag),
            (ended, between & ends),
            (waiting, between),
        ):
            if group.size:
                rows[group] = rows[group] @ distribution.steps(word, arcs)
        waiting = np.concatenate([waiting, ended])
        inside = np.concatenate([inside, first])
        is_last = prefixes.last[inside] == word
        ended, inside = inside[is_last], inside[~is_last]
        ends = reads != grammar.continued[tag]
        if ended.size and word + 1 < len(tags):
            found[ended] = rows[ended] @ distribution.steps(word + 1, ends).sum(axis=1)
        elif ended.size:
            found[ended] = rows[ended].sum(axis=1)
    return found[prefixes.whole]
