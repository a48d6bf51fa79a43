"""From scores of tag sequences to mentions, each with its marginal probability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from trigner.arrays import Floats, Integers, Logits
from trigner.mentions import Mention, ScoredMention
from trigner.schemes.grammar import Grammar
from trigner.schemes.marginals import marginals
from trigner.schemes.scheme import Decoding, Words


@dataclass(frozen=True, slots=True)
class Product:
    """Mentions of one label: the words of each of `firsts` with those of each of `seconds`.

    A lazy sequence: there can be far more mentions than are wanted, and each is made on access.
    """

    label: str
    firsts: tuple[Words, ...]
    seconds: tuple[Words, ...] = ((),)

    def __len__(self) -> int:
        return len(self.firsts) * len(self.seconds)

    def __iter__(self) -> Iterator[Mention]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, number: int) -> Mention:
        first, second = divmod(number, len(self.seconds))
        return Mention(tuple(sorted(self.firsts[first] + self.seconds[second])), self.label)

    def weights(self, words: Floats) -> Floats:
        """The sum over each mention's words, `[N]`."""
        firsts, seconds = ([words[list(w)].sum() for w in s] for s in (self.firsts, self.seconds))
        weights: Floats = np.add.outer(firsts, seconds).ravel()
        return weights


def apart(mentions: Iterable[Mention]) -> list[Product]:
    """A product of its own for each mention."""
    return [Product(mention.label, (mention.words,)) for mention in mentions]


def decode(
    grammar: Grammar,
    scores: Logits,
    read: Callable[[Integers], Sequence[Product]],
    *,
    limit: int,
) -> Decoding:
    """The mentions that `read` finds in the best well-formed tags, with marginal probabilities.

    Of more than `limit` mentions those are kept whose words have the largest product of marginal
    tag probabilities.
    """
    tags = grammar.automaton.best(scores).tags
    products = read(tags)
    complete = sum(map(len, products)) <= limit
    if not products:
        return Decoding((), complete)
    distribution = grammar.automaton.distribution(scores)
    if complete:
        mentions = [mention for product in products for mention in product]
    else:
        mentions = _likeliest(products, distribution.marginals[np.arange(len(tags)), tags], limit)
    found = map(ScoredMention, mentions, marginals(grammar, distribution, tags, mentions).tolist())
    return Decoding(tuple(sorted(found, key=lambda scored: -scored.score)), complete)


def _likeliest(products: Sequence[Product], likely: Floats, limit: int) -> list[Mention]:
    """The mentions with the largest products of their words' marginals `[L]`; ties in order."""
    with np.errstate(divide="ignore"):
        words = np.log(likely)
    weights = np.concatenate([product.weights(words) for product in products])
    starts = np.cumsum([0, *map(len, products)])
    chosen = np.argsort(-weights, kind="stable")[:limit]
    owners = np.searchsorted(starts, chosen, side="right") - 1
    return [
        products[owner][number]
        for owner, number in zip(owners.tolist(), (chosen - starts[owners]).tolist(), strict=True)
    ]


def certain(mentions: Sequence[Mention], *, limit: int) -> Decoding:
    """Mentions of given tags, each with score 1."""
    found = tuple(ScoredMention(mention, 1.0) for mention in mentions[:limit])
    return Decoding(found, complete=len(mentions) <= limit)
