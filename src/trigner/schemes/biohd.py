"""BIOHD and BIOHD1234: words that mentions share are marked, and pieces merged by rules.

Tang et al., 2013 and 2015; Metke-Jimenez and Karimi, 2016. Ties and the table of BIOHD1234's digits
are ours: `docs/schemes.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from trigner.arrays import Integers, Logits, Tags
from trigner.mentions import Mention
from trigner.schemes.chain import Segment, chain, segments
from trigner.schemes.grammar import Grammar
from trigner.schemes.merging import (
    Kind,
    Piece,
    merged,
    merged_by_digits,
    pieces_of,
    pointed_to,
    words_of,
)
from trigner.schemes.scheme import Decoding, Encoding, TagGroup, TagSpace, Words, check
from trigner.schemes.sequence_decoding import apart, certain, decode

PLAIN_OR_HEAD = ("", "H")
DIGITS = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class Biohd:
    """Seven tags for one label: O, and B and I, HB and HI, DB and DI of each.

    B is a mention that is continuous and shares no word; H are words that mentions share; D those
    of one mention, a discontinuous one or one that shares other words. Tags can be ambiguous:
    `merging.merged` has the rules by which they are read.
    """

    labels: tuple[str, ...]
    max_mentions: int = 1000
    name: str = field(default="biohd", init=False)
    tag_space: TagSpace = field(default=TagSpace.SEQUENCE, init=False)
    groups: tuple[TagGroup, ...] = field(default=(), init=False)

    @property
    def grammar(self) -> Grammar:
        """I follows B or I, HI follows HB or HI, DI follows DB or DI, of the same label."""
        return _grammar(self.labels, (*PLAIN_OR_HEAD, "D"))

    @property
    def tags(self) -> tuple[str, ...]:
        """O, then the six others of each label."""
        return self.grammar.tags

    def encode(self, mentions: Sequence[Mention], length: int) -> Encoding:
        """Tags `[L]`. Lost are the mentions that do not come back from them.

        A mention that shares a word with one of another label that is longer, or as long and comes
        first, leaves no tags.
        """
        return _encode(self, mentions, length, lambda pieces, words: [p.kind for p in pieces])

    def decode(self, scores: Logits) -> Decoding:
        """Mentions of the best well-formed tags; scores as in `marginals.marginals`."""
        return decode(
            self.grammar, scores, lambda tags: apart(self.read(tags)), limit=self.max_mentions
        )

    def decode_tags(self, tags: Tags) -> Decoding:
        """Mentions of tags `[L]`, each with score 1. A stray tag of I's kind begins a segment."""
        return certain(self.read(tags.astype(np.int64)), limit=self.max_mentions)

    def read(self, tags: Integers) -> list[Mention]:
        """Mentions of tags `[L]`, those of each label in turn."""
        return _read(self.labels, len(Kind), tags, merged)


@dataclass(frozen=True, slots=True)
class Biohd1234:
    """Thirteen tags for one label: BIOHD with a digit on D that says what to merge it with.

    1 is the nearest H to the left, 2 to the right, 3 the nearest D to the left, 4 to the right.
    """

    labels: tuple[str, ...]
    max_mentions: int = 1000
    name: str = field(default="biohd1234", init=False)
    tag_space: TagSpace = field(default=TagSpace.SEQUENCE, init=False)
    groups: tuple[TagGroup, ...] = field(default=(), init=False)

    @property
    def grammar(self) -> Grammar:
        """As BIOHD's; DI has the digit of the DB or DI before it."""
        return _grammar(self.labels, (*PLAIN_OR_HEAD, *(f"D{digit}" for digit in DIGITS)))

    @property
    def tags(self) -> tuple[str, ...]:
        """O, then the twelve others of each label."""
        return self.grammar.tags

    def encode(self, mentions: Sequence[Mention], length: int) -> Encoding:
        """Tags `[L]`; as BIOHD's, with the first digit that points into the piece's mention."""

        def kinds(pieces: Sequence[Piece], mentions: Sequence[Words]) -> list[int]:
            heads = [_segment(p) for p in pieces if p.kind == Kind.HEAD]
            parts = [_segment(p) for p in pieces if p.kind == Kind.PART]
            return [
                p.kind + _digit(p, mentions, heads, parts) - 1 if p.kind == Kind.PART else p.kind
                for p in pieces
            ]

        return _encode(self, mentions, length, kinds)

    def decode(self, scores: Logits) -> Decoding:
        """Mentions of the best well-formed tags; scores as in `marginals.marginals`."""
        return decode(
            self.grammar, scores, lambda tags: apart(self.read(tags)), limit=self.max_mentions
        )

    def decode_tags(self, tags: Tags) -> Decoding:
        """Mentions of tags `[L]`, each with score 1. A stray tag of I's kind begins a segment."""
        return certain(self.read(tags.astype(np.int64)), limit=self.max_mentions)

    def read(self, tags: Integers) -> list[Mention]:
        """Mentions of tags `[L]`, those of each label in turn."""

        def merge(heads: Sequence[Segment], parts: Sequence[Segment]) -> list[Words]:
            return merged_by_digits(heads, parts, [part.kind - Kind.PART + 1 for part in parts])

        return _read(self.labels, Kind.PART + len(DIGITS), tags, merge)


Kinds = Callable[[Sequence[Piece], Sequence[Words]], Sequence[int]]
Merge = Callable[[Sequence[Segment], Sequence[Segment]], list[Words]]


def _encode(
    scheme: Biohd | Biohd1234, mentions: Sequence[Mention], length: int, kinds: Kinds
) -> Encoding:
    """Tags of the pieces of each label's mentions; `kinds` gives the kinds of their segments."""
    check(mentions, scheme.labels, length)
    kept = _one_label_a_word(mentions)
    tags = np.zeros(length, dtype=np.int64)
    tags_a_label = (len(scheme.tags) - 1) // len(scheme.labels) if scheme.labels else 0
    for index, label in enumerate(scheme.labels):
        own = sorted(mention.words for mention in kept if mention.label == label)
        pieces = pieces_of(own)
        for piece, kind in zip(pieces, kinds(pieces, own), strict=True):
            begin = 1 + index * tags_a_label + 2 * kind
            tags[piece.first : piece.last + 1] = begin + 1
            tags[piece.first] = begin
    back = set(scheme.read(tags))
    return Encoding(tags, tuple(mention for mention in mentions if mention not in back))


def _one_label_a_word(mentions: Sequence[Mention]) -> set[Mention]:
    """The mentions that share no word with one of another label that comes before them."""
    label_of: dict[int, str] = {}
    kept = set()
    for mention in sorted(set(mentions), key=lambda m: (-len(m.words), m)):
        if all(label_of.get(word, mention.label) == mention.label for word in mention.words):
            label_of.update(dict.fromkeys(mention.words, mention.label))
            kept.add(mention)
    return kept


def _read(labels: Sequence[str], kinds: int, tags: Integers, merge: Merge) -> list[Mention]:
    """Plain segments, and what `merge` makes of the heads and parts of each label."""
    own: list[list[Segment]] = [[] for _ in labels]
    for segment in segments(tags):
        index, kind = divmod(segment.kind, kinds)
        own[index].append(Segment(kind, segment.first, segment.last))
    found: list[Mention] = []
    for label, all_ in zip(labels, own, strict=True):
        plain = [words_of(s) for s in all_ if s.kind == Kind.PLAIN]
        heads = [s for s in all_ if s.kind == Kind.HEAD]
        parts = [s for s in all_ if s.kind >= Kind.PART]
        found += [Mention(words, label) for words in (*plain, *merge(heads, parts))]
    return found


def _digit(
    piece: Piece,
    mentions: Sequence[Words],
    heads: Sequence[Segment],
    parts: Sequence[Segment],
) -> int:
    """The first digit whose target lies in the part's mention; else 1, or 3 without heads."""
    (owner,) = piece.owners
    for digit in DIGITS:
        target = pointed_to(digit, _segment(piece), heads, parts)
        if target is not None and set(words_of(target)) <= set(mentions[owner]):
            return digit
    return 1 if heads else 3


def _segment(piece: Piece) -> Segment:
    return Segment(int(piece.kind), piece.first, piece.last)


@lru_cache(maxsize=64)
def _grammar(labels: tuple[str, ...], kinds: tuple[str, ...]) -> Grammar:
    return chain([(f"{kind}B-{label}", f"{kind}I-{label}") for label in labels for kind in kinds])
