"""How likely mentions are under the distribution over well-formed sequences of tags.

A mention asks something of the words from its first to the one after its last. The distribution is
a Markov chain, so that it is enough to walk from the first to the last of these: one row of state
marginals for each piece of a mention, and all rows take their step together, word by word. Mentions
that begin with the same segments share their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trigner.mentions import Mention
from trigner.schemes.automaton import Distribution, Floats, Integers
from trigner.schemes.grammar import Grammar


def marginals(
    grammar: Grammar, distribution: Distribution, tags: Integers, mentions: Sequence[Mention]
) -> Floats:
    """How likely each mention's words have these tags and its pieces end where they do, `[M]`.

    Exact sums over all well-formed sequences, whatever the other words' tags, with both ways to
    name the types of components and wherever the set begins.
    """
    begun = beginnings(mentions)
    total = _as_named(grammar, distribution, tags, begun)
    exchanged = grammar.exchange[tags]
    typed = set(np.flatnonzero(exchanged != tags).tolist())
    if typed:
        twice = [not typed.isdisjoint(mention.words) for mention in mentions]
        total += _as_named(grammar, distribution, exchanged, begun) * twice
    return total.clip(0.0, 1.0)


@dataclass(frozen=True)
class Beginnings:
    """What mentions begin with, segment by segment: `first` and `last` word of a segment, `[N]`.

    `before` is the beginning without it, -1 for none; `until` the word up to which another
    segment may follow; `whole [M]` the beginning that is each of the mentions, all of it.
    """

    first: Integers
    last: Integers
    before: Integers
    until: Integers
    whole: Integers


def beginnings(mentions: Sequence[Mention]) -> Beginnings:
    """The beginnings of mentions, shorter ones first, each once."""
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
    return Beginnings(firsts, lasts, before, until, np.array(whole, dtype=np.int64))


def _as_named(
    grammar: Grammar, distribution: Distribution, tags: Integers, begun: Beginnings
) -> Floats:
    """`marginals` with these types of components only, `[M]`."""
    automaton = distribution.automaton
    reads = automaton.arc_tags
    rows = np.zeros((len(begun.first), len(automaton.states)))
    found = np.zeros(len(rows))
    order = np.argsort(begun.first, kind="stable")
    starts = np.searchsorted(begun.first[order], np.arange(len(tags) + 1))
    inside = ended = waiting = order[:0]
    # Between the words of a mention no other set may begin.
    between = ~np.isin(reads, grammar.opening)
    ends = np.ones(len(reads), dtype=bool)
    for word, tag in enumerate(tags.tolist()):
        new = order[starts[word] : starts[word + 1]]
        is_first = begun.before[new] < 0
        first, later = new[is_first], new[~is_first]
        rows[first] = distribution.states[word]
        rows[later] = rows[begun.before[later]]
        inside = np.concatenate([inside, later])
        waiting = waiting[begun.until[waiting] > word]
        ended = ended[begun.until[ended] > word]
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
        is_last = begun.last[inside] == word
        ended, inside = inside[is_last], inside[~is_last]
        ends = reads != grammar.continued[tag]
        if ended.size and word + 1 < len(tags):
            found[ended] = rows[ended] @ distribution.steps(word + 1, ends).sum(axis=1)
        elif ended.size:
            found[ended] = rows[ended].sum(axis=1)
    return found[begun.whole]
