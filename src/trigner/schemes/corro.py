"""Corro's two layers: sets of mentions, and in each set components of two types.

Corro, A fast and sound tagging method for discontinuous named-entity recognition, EMNLP 2024. The
mentions of a set are all pairs of one x and one y component. What is recalled, what reconstructed:
`docs/schemes.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from trigner.mentions import Mention
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
from trigner.schemes.scheme import Decoding, Encoding, Scores, TagGroup, Tags, TagSpace, check
from trigner.schemes.sequence_decoding import Product, certain, decode

Painted = dict[int, int]
"""Word -> kind of tag, of the words of some mentions and of the gaps between them."""

SEARCHED = 12
"""Mentions of a group whose sub-groups are all tried; larger groups are thinned out greedily."""


@dataclass(frozen=True, slots=True)
class Corro:
    """Ten tags for one label, nine more for each other; decoding never gives ill-formed tags.

    With `strict` a set must have a discontinuous mention; otherwise two overlapping continuous
    ones are a set as well. With `repair` ill-formed tags are read as the well-formed ones that
    agree with most of them. `max_mentions` bounds what one sentence decodes to.
    """

    labels: tuple[str, ...]
    max_mentions: int = 1000
    strict: bool = False
    repair: bool = False
    name: str = field(default="corro", init=False)
    tag_space: TagSpace = field(default=TagSpace.SEQUENCE, init=False)
    groups: tuple[TagGroup, ...] = field(default=(), init=False)

    @property
    def grammar(self) -> Grammar:
        """The automaton of `corro_automaton`."""
        return corro_grammar(self.labels, strict=self.strict)

    @property
    def tags(self) -> tuple[str, ...]:
        """O, then the nine others of each label."""
        return self.grammar.tags

    def encode(self, mentions: Sequence[Mention], length: int) -> Encoding:
        """Tags `[L]`, the first component of a set being x.

        Of mentions that cannot stand together as many as possible stay; of as many, more
        discontinuous ones; then those that come first. What is lost leaves no tag behind.
        """
        check(mentions, self.labels, length)
        tags = np.zeros(length, dtype=np.int64)
        kept: set[Mention] = set()
        for group in _groups(sorted(set(mentions))):
            chosen = _largest(group, self.strict)
            kept.update(chosen)
            for label, painted in _paint_all(chosen, self.strict) or ():
                for word, kind in painted.items():
                    tags[word] = tag_of(self.labels.index(label), kind)
        return Encoding(tags, tuple(mention for mention in mentions if mention not in kept))

    def decode(self, scores: Scores) -> Decoding:
        """Mentions of the best well-formed tags; scores as in `marginals.marginals`.

        The score of a discontinuous mention is the probability that it is there.
        """
        return decode(self.grammar, scores, self._read, limit=self.max_mentions)

    def decode_tags(self, tags: Tags) -> Decoding:
        """Mentions of tags `[L]`, each with score 1. Raises ValueError for ill-formed tags."""
        if not self.grammar.automaton.accepts(tags):
            if not self.repair:
                raise ValueError("the tags are ill-formed")
            tags = self.grammar.automaton.best(np.eye(len(self.tags))[tags]).tags
        products = self._read(tags.astype(np.int64))
        return certain([m for product in products for m in product], limit=self.max_mentions)

    def _read(self, tags: NDArray[np.int64]) -> list[Product]:
        found: list[Product] = []
        components = _Components()
        label = ""
        for word, tag in enumerate(tags.tolist()):
            place, kind = divmod(tag - 1, len(KINDS))
            if kind in BEGINS_ANEW or tag == 0:
                found += components.products(label)
                components = _Components()
            if tag:
                label = self.labels[place]
                components.add(word, kind)
        return found + components.products(label)


BEGINS_ANEW = (CB, DB_X, DB_Y)
X, Y = {DB_X, DI_BX, DI_IX}, {DB_Y, DI_BY, DI_IY}
GOES_ON = {CI, DI_IX, DI_IY}


class _Components:
    """A continuous mention, or the components of a set, while tags are read."""

    def __init__(self) -> None:
        self._whole: list[int] = []
        self._typed: tuple[list[list[int]], list[list[int]]] = ([], [])

    def add(self, word: int, kind: int) -> None:
        if kind in (CB, CI):
            self._whole.append(word)
        elif kind != DI_O:
            own = self._typed[kind in Y]
            if kind in GOES_ON:
                own[-1].append(word)
            else:
                own.append([word])

    def products(self, label: str) -> list[Product]:
        if self._whole:
            return [Product(label, (tuple(self._whole),))]
        x, y = (tuple(map(tuple, components)) for components in self._typed)
        return [Product(label, x, y)] if x and y else []


def _groups(mentions: Sequence[Mention]) -> list[tuple[Mention, ...]]:
    """Sorted mentions, together when their extents overlap, directly or over others."""
    groups: list[list[Mention]] = []
    end = -1
    for mention in mentions:
        if mention.words[0] > end:
            groups.append([])
        groups[-1].append(mention)
        end = max(end, mention.words[-1])
    return [tuple(group) for group in groups]


@lru_cache(maxsize=4096)
def _largest(group: tuple[Mention, ...], strict: bool) -> tuple[Mention, ...]:
    """The mentions of a group that stay, as `Corro.encode` says; sorted."""
    if len(group) > SEARCHED:
        return _thinned(group, strict)
    for size in range(len(group), 0, -1):
        possible = [s for s in combinations(group, size) if _paint_all(s, strict) is not None]
        if possible:
            return max(possible, key=_discontinuous)
    return ()


def _thinned(group: Sequence[Mention], strict: bool) -> tuple[Mention, ...]:
    """Mentions taken one after the other where those before allow it.

    Once discontinuous ones first, once those of the least extent: what leaves more.
    """
    orders = (
        sorted(group, key=lambda m: (not m.is_discontinuous, m)),
        sorted(group, key=lambda m: (m.words[-1] - m.words[0], m)),
    )
    found = (_taken(order, strict) for order in orders)
    return max(found, key=lambda chosen: (len(chosen), _discontinuous(chosen)))


def _taken(order: Iterable[Mention], strict: bool) -> tuple[Mention, ...]:
    chosen: tuple[Mention, ...] = ()
    for mention in order:
        more = tuple(sorted((*chosen, mention)))
        if _paint_all(more, strict) is not None:
            chosen = more
    return chosen


def _discontinuous(mentions: Iterable[Mention]) -> int:
    return sum(mention.is_discontinuous for mention in mentions)


def _paint_all(mentions: Sequence[Mention], strict: bool) -> list[tuple[str, Painted]] | None:
    """Tags of sorted mentions, group by group; None when some of them cannot be expressed."""
    found: list[tuple[str, Painted]] = []
    for group in _groups(mentions):
        painted = _paint(group, strict) if len({m.label for m in group}) == 1 else None
        if painted is None:
            return None
        found.append((group[0].label, painted))
    return found


def _paint(group: Sequence[Mention], strict: bool) -> Painted | None:
    """Tags of mentions of one label that overlap; None when they are no set."""
    first, *others = group
    if not others and not first.is_discontinuous:
        return {word: CI if n else CB for n, word in enumerate(first.words)}
    if strict and not _discontinuous(group):
        return None
    components = _components(group)
    owners = [owner for owner, _ in components]
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
    extent = range(components[0][1][0], components[-1][1][-1] + 1)
    painted: Painted = dict.fromkeys(extent, DI_O)
    for y, (_, words) in zip(is_y, components, strict=True):
        painted[words[0]] = DI_BY if y else DI_BX
        painted.update(dict.fromkeys(words[1:], DI_IY if y else DI_IX))
    painted[extent.start] = DB_X
    return painted


def _components(group: Sequence[Mention]) -> list[tuple[frozenset[int], list[int]]]:
    """Runs of neighbouring words that the same mentions hold: which of the group, which words."""
    owners: dict[int, set[int]] = {}
    for number, mention in enumerate(group):
        for word in mention.words:
            owners.setdefault(word, set()).add(number)
    found: list[tuple[frozenset[int], list[int]]] = []
    for word in sorted(owners):
        owner = frozenset(owners[word])
        if found and found[-1][0] == owner and found[-1][1][-1] == word - 1:
            found[-1][1].append(word)
        else:
            found.append((owner, [word]))
    return found
