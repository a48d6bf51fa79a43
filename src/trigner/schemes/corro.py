"""Corro's two layers: sets of mentions, and in each set components of two types.

Corro, A fast and sound tagging method for discontinuous named-entity recognition, EMNLP 2024. The
mentions of a set are all pairs of one x and one y component. `docs/guides/systems.md` says which
parts are the article's and which are reconstructed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

import numpy as np

from trigner.arrays import Integers, Logits, Tags
from trigner.mentions import Mention, overlapping
from trigner.schemes.corro_automaton import (
    CB,
    CI,
    DB_X,
    DB_Y,
    DI_BX,
    DI_BY,
    DI_IX,
    DI_IY,
    DI_O,
    KINDS,
    corro_grammar,
    tag_of,
)
from trigner.schemes.grammar import Grammar
from trigner.schemes.merging import shared_runs
from trigner.schemes.scheme import Decoding, Encoding, TagGroup, TagSpace, check
from trigner.schemes.sequence_decoding import Product, certain, decode

Painted = dict[int, int]
"""Word -> kind of tag, for the words of some mentions and the gaps between them."""

SEARCHED = 12
"""Up to this many mentions of a group all subsets are tried; larger groups are thinned greedily."""


@dataclass(frozen=True, slots=True)
class Corro:
    """Ten tags for one label, nine more for each other; decoding never gives ill-formed tags.

    A set may consist of overlapping continuous mentions. `max_mentions` bounds what one sentence
    decodes to.
    """

    labels: tuple[str, ...]
    max_mentions: int = 1000
    name: str = field(default="corro", init=False)
    tag_space: TagSpace = field(default=TagSpace.SEQUENCE, init=False)
    groups: tuple[TagGroup, ...] = field(default=(), init=False)

    @property
    def grammar(self) -> Grammar:
        """The automaton of `corro_automaton`."""
        return corro_grammar(self.labels)

    @property
    def tags(self) -> tuple[str, ...]:
        """O, then the nine others of each label."""
        return self.grammar.tags

    def encode(self, mentions: Sequence[Mention], length: int) -> Encoding:
        """Tags `[L]`, the first component of a set being x.

        Of mentions that cannot be tagged together as many as possible are kept; of equally large
        choices the one with more discontinuous mentions, then the first. Lost mentions leave no
        tags.
        """
        check(mentions, self.labels, length)
        tags = np.zeros(length, dtype=np.int64)
        encoded: set[Mention] = set()
        for group in overlapping(set(mentions)):
            chosen = _largest(tuple(group))
            encoded.update(chosen)
            for label, painted in _paint_all(chosen) or ():
                for word, kind in painted.items():
                    tags[word] = tag_of(self.labels.index(label), kind)
        return Encoding(tags, tuple(mention for mention in mentions if mention not in encoded))

    def decode(self, scores: Logits) -> Decoding:
        """Mentions of the best well-formed tags; scores as in `marginals.marginals`.

        The score of a discontinuous mention is its marginal probability.
        """
        return decode(self.grammar, scores, self._read, limit=self.max_mentions)

    def decode_tags(self, tags: Tags) -> Decoding:
        """Mentions of tags `[L]`, each with score 1. Raises ValueError for ill-formed tags."""
        if not self.grammar.automaton.accepts(tags):
            raise ValueError("the tags are ill-formed")
        products = self._read(tags.astype(np.int64))
        return certain([m for product in products for m in product], limit=self.max_mentions)

    def _read(self, tags: Integers) -> list[Product]:
        found: list[Product] = []
        components = _Components()
        label = ""
        for word, tag in enumerate(tags.tolist()):
            index, kind = divmod(tag - 1, len(KINDS))
            if kind in BEGINS or tag == 0:
                found += components.products(label)
                components = _Components()
            if tag:
                label = self.labels[index]
                components.add(word, kind)
        return found + components.products(label)


BEGINS = (CB, DB_X, DB_Y)
X, Y = {DB_X, DI_BX, DI_IX}, {DB_Y, DI_BY, DI_IY}
CONTINUES = {CI, DI_IX, DI_IY}


class _Components:
    """A continuous mention, or the components of a set, as its tags are read word by word."""

    def __init__(self) -> None:
        self._whole: list[int] = []
        self._typed: tuple[list[list[int]], list[list[int]]] = ([], [])

    def add(self, word: int, kind: int) -> None:
        if kind in (CB, CI):
            self._whole.append(word)
        elif kind != DI_O:
            own = self._typed[kind in Y]
            if kind in CONTINUES:
                own[-1].append(word)
            else:
                own.append([word])

    def products(self, label: str) -> list[Product]:
        if self._whole:
            return [Product(label, (tuple(self._whole),))]
        x, y = (tuple(map(tuple, components)) for components in self._typed)
        return [Product(label, x, y)] if x and y else []


@lru_cache(maxsize=4096)
def _largest(group: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """The mentions of a group that are kept, as `Corro.encode` says; sorted."""
    if len(group) > SEARCHED:
        return _thinned(group)
    for size in range(len(group), 0, -1):
        possible = [s for s in combinations(group, size) if _paint_all(s) is not None]
        if possible:
            return max(possible, key=_discontinuous)
    return ()


def _thinned(group: Sequence[Mention]) -> tuple[Mention, ...]:
    """Mentions taken greedily: discontinuous ones first, or those of the least extent first,
    whichever keeps more.
    """
    orders = (
        sorted(group, key=lambda m: (not m.is_discontinuous, m)),
        sorted(group, key=lambda m: (m.words[-1] - m.words[0], m)),
    )
    return max(map(_taken, orders), key=lambda chosen: (len(chosen), _discontinuous(chosen)))


def _taken(order: Iterable[Mention]) -> tuple[Mention, ...]:
    chosen: tuple[Mention, ...] = ()
    for mention in order:
        more = tuple(sorted((*chosen, mention)))
        if _paint_all(more) is not None:
            chosen = more
    return chosen


def _discontinuous(mentions: Iterable[Mention]) -> int:
    return sum(mention.is_discontinuous for mention in mentions)


def _paint_all(mentions: Sequence[Mention]) -> list[tuple[str, Painted]] | None:
    """Tags of sorted mentions, group by group; None when they cannot be tagged together."""
    found: list[tuple[str, Painted]] = []
    for group in overlapping(mentions):
        painted = _paint(group) if len({m.label for m in group}) == 1 else None
        if painted is None:
            return None
        found.append((group[0].label, painted))
    return found


def _paint(group: Sequence[Mention]) -> Painted | None:
    """Tags of mentions of one label that overlap; None when they do not form a set."""
    first, *others = group
    if not others and not first.is_discontinuous:
        return {word: CI if n else CB for n, word in enumerate(first.words)}
    components = shared_runs([mention.words for mention in group])
    owners = [owner for _, owner in components]
    if others or len(components) != 2:
        if len(set(owners)) < len(owners):
            return None
        is_y = [bool(owner & owners[0]) and n > 0 for n, owner in enumerate(owners)]
    else:
        is_y = [False, True]
    products = (len(is_y) - sum(is_y)) * sum(is_y)
    for number in range(len(group)):
        own = [y for y, owner in zip(is_y, owners, strict=True) if number in owner]
        if sorted(own) != [False, True]:
            return None
    if products != len(group):
        return None
    extent = range(components[0][0][0], components[-1][0][-1] + 1)
    painted: Painted = dict.fromkeys(extent, DI_O)
    for y, (words, _) in zip(is_y, components, strict=True):
        painted[words[0]] = DI_BY if y else DI_BX
        painted.update(dict.fromkeys(words[1:], DI_IY if y else DI_IX))
    painted[extent.start] = DB_X
    return painted
