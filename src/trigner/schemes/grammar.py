"""What schemes with one tag a word share: well-formed tags, decoding, a score for each mention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from trigner.mentions import Mention, ScoredMention
from trigner.schemes.automaton import Automaton
from trigner.schemes.scheme import Decoding, Scheme, Scores

Integers = NDArray[np.int64]

NO_TAG = -1


@dataclass(frozen=True)
class Grammar:
    """The tags of a scheme, class 0 outside, and which sequences of them are well-formed.

    For each tag, `continued` is the tag with which the next word would go on with the same piece of
    a mention, `NO_TAG` for none; `exchanged` is the tag that means the same once the two types of
    components in its set of mentions change places; `reopened` the one that differs in whether the
    word begins the set; both are mostly the tag itself. `opening` tags begin a set.
    """

    tags: tuple[str, ...]
    automaton: Automaton
    continued: tuple[int, ...]
    exchanged: tuple[int, ...]
    reopened: tuple[int, ...]
    opening: tuple[int, ...] = ()

    @cached_property
    def exchange(self) -> Integers:
        """`exchanged` as an array `[C]`."""
        return np.array(self.exchanged, dtype=np.int64)


class SequenceScheme(Scheme, Protocol):
    """A scheme whose tag space is a sequence."""

    @property
    def grammar(self) -> Grammar:
        """Its well-formed sequences of tags."""
        ...


def check(mentions: Sequence[Mention], labels: tuple[str, ...], length: int) -> None:
    """Raises ValueError for an unknown label or a word outside a sentence of `length` words."""
    for mention in mentions:
        if mention.words[-1] >= length:
            raise ValueError(f"word {mention.words[-1]} is outside a sentence of {length} words")
        if mention.label not in labels:
            raise ValueError(f"unknown label {mention.label!r}")


def decode(
    grammar: Grammar,
    scores: Scores,
    read: Callable[[Integers], Sequence[Mention]],
    *,
    limit: int,
) -> Decoding:
    """The mentions that `read` finds in the best well-formed tags, each with its `chances`.

    Of more than `limit` mentions those stay whose words are likeliest to have their tags, each
    word taken alone.
    """
    tags = grammar.automaton.best(scores).tags
    mentions = list(read(tags))
    complete = len(mentions) <= limit
    if not complete:
        likely = grammar.automaton.marginals(scores)[np.arange(len(tags)), tags]
        with np.errstate(divide="ignore"):
            weights = np.log(likely)
        mentions.sort(key=lambda mention: -weights[list(mention.words)].sum())
        del mentions[limit:]
    if not mentions:
        return Decoding((), complete)
    found = map(ScoredMention, mentions, chances(grammar, scores, tags, mentions).tolist())
    return Decoding(tuple(sorted(found, key=lambda scored: -scored.score)), complete)


def certain(mentions: Sequence[Mention], *, limit: int) -> Decoding:
    """Mentions of certain tags, each with score 1."""
    found = tuple(ScoredMention(mention, 1.0) for mention in mentions[:limit])
    return Decoding(found, complete=len(mentions) <= limit)


def chances(
    grammar: Grammar, scores: Scores, tags: Integers, mentions: Sequence[Mention]
) -> NDArray[np.float64]:
    """How likely each mention's words have these tags and its pieces end where they do, `[M]`.

    Exact sums over all well-formed sequences, whatever the other words' tags, with both ways to
    name the types of components and wherever the set begins.
    """
    automaton = grammar.automaton
    everything = automaton.log_partition(scores)
    meant = _demands(grammar, tags, mentions)
    exchanged = grammar.exchange[tags]
    total = np.exp(automaton.log_partition(scores, meant) - everything)
    other = [n for n, m in enumerate(mentions) if (exchanged != tags)[list(m.words)].any()]
    if other:
        meant = _demands(grammar, exchanged, [mentions[n] for n in other])
        total[other] += np.exp(automaton.log_partition(scores, meant) - everything)
    result: NDArray[np.float64] = total.clip(0.0, 1.0)
    return result


def _demands(grammar: Grammar, tags: Integers, mentions: Sequence[Mention]) -> NDArray[np.bool_]:
    """The tags that words may have for each mention to be there, `[M, L, C]`."""
    allowed = np.ones((len(mentions), len(tags), len(grammar.tags)), dtype=bool)
    opening = list(grammar.opening)
    for own, mention in zip(allowed, mentions, strict=True):
        # Between its words no other set may begin.
        own[mention.words[0] + 1 : mention.words[-1], opening] = False
        for word in mention.words:
            following = grammar.continued[tags[word]]
            if word + 1 < len(tags) and following != NO_TAG:
                own[word + 1, following] = False
        words = list(mention.words)
        own[words] = False
        own[words, tags[words]] = True
        own[words[0], grammar.reopened[tags[words[0]]]] = True
    return allowed
