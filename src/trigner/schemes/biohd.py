"""BIOHD and BIOHD1234: words that mentions share are marked, and segments merged by rules.

Tang et al., 2013 and 2015; Metke-Jimenez and Karimi, 2016. Ties and the table of BIOHD1234's digits
are ours: `docs/guides/systems.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from trigner.arrays import Integers, Logits, Tags
from trigner.mentions import Mention
from trigner.schemes.chain import Segment, chain, segments
from trigner.schemes.grammar import Grammar
from trigner.schemes.merging import (
    Kind,
    merged,
    merged_by_digits,
    pointed_to,
    segments_of,
    words_of,
)
from trigner.schemes.scheme import Decoding, Encoding, TagGroup, TagSpace, Words, check
from trigner.schemes.sequence_decoding import apart, certain, decode

DIGITS = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class Biohd:
    """Seven tags for one label: O, and B and I, HB and HI, DB and DI of each.

    B is a mention that is continuous and shares no word; H are words that mentions share; D those
    of one mention, a discontinuous one or one that shares other words. Tags can be ambiguous:
    `merging.merged` has the rules by which they are read.

    With `digits` it is BIOHD1234, thirteen tags for one label: a digit on D says what to merge it
    with. 1 is the nearest H to the left, 2 to the right, 3 the nearest D to the left, 4 to the
    right.
    """

    labels: tuple[str, ...]
    digits: bool = False
    max_mentions: int = 1000
    tag_space: TagSpace = field(default=TagSpace.SEQUENCE, init=False)
    groups: tuple[TagGroup, ...] = field(default=(), init=False)

    @property
    def name(self) -> str:
        """`biohd`, or `biohd1234`."""
        return "biohd1234" if self.digits else "biohd"

    @property
    def kinds(self) -> tuple[str, ...]:
        """What stands before B and I: nothing, H, and D or D1 to D4."""
        return ("", "H", *((f"D{digit}" for digit in DIGITS) if self.digits else ("D",)))

    @property
    def grammar(self) -> Grammar:
        """An I follows its own B or I only: of the same kind, digit and label."""
        return _grammar(self.labels, self.kinds)

    @property
    def tags(self) -> tuple[str, ...]:
        """O, then B and I of each kind, label by label."""
        return self.grammar.tags

    def encode(self, mentions: Sequence[Mention], length: int) -> Encoding:
        """Tags `[L]`. Lost are the mentions that do not come back from them.

        A mention that shares a word with one of another label that is longer, or as long and comes
        first, leaves no tags. A digit is the first that points into the segment's mention.
        """
        check(mentions, self.labels, length)
        chosen = _one_label_a_word(mentions)
        tags = np.zeros(length, dtype=np.int64)
        for index, label in enumerate(self.labels):
            own = sorted(mention.words for mention in chosen if mention.label == label)
            for segment, kind in self._kinds_of(own).items():
                begin = 1 + 2 * (index * len(self.kinds) + kind)
                tags[segment.first : segment.last + 1] = begin + 1
                tags[segment.first] = begin
        back = set(self._read(tags))
        return Encoding(tags, tuple(mention for mention in mentions if mention not in back))

    def decode(self, scores: Logits) -> Decoding:
        """Mentions of the best well-formed tags; scores as in `marginals.marginals`."""
        return decode(
            self.grammar, scores, lambda tags: apart(self._read(tags)), limit=self.max_mentions
        )

    def decode_tags(self, tags: Tags) -> Decoding:
        """Mentions of tags `[L]`, each with score 1. A stray tag of I's kind begins a segment."""
        return certain(self._read(tags.astype(np.int64)), limit=self.max_mentions)

    def _kinds_of(self, mentions: Sequence[Words]) -> dict[Segment, int]:
        """The segments of one label's mentions, and the index of each among `kinds`."""
        owners = segments_of(mentions)
        if not self.digits:
            return {segment: segment.kind for segment in owners}
        heads, parts = _heads_and_parts(list(owners))
        return {
            segment: segment.kind + _digit(segment, mentions[min(own)], heads, parts) - 1
            if segment.kind == Kind.PART
            else segment.kind
            for segment, own in owners.items()
        }

    def _read(self, tags: Integers) -> list[Mention]:
        """Mentions of tags `[L]`, those of each label in turn: plain segments, and merged ones."""
        own: list[list[Segment]] = [[] for _ in self.labels]
        for segment in segments(tags):
            index, kind = divmod(segment.kind, len(self.kinds))
            own[index].append(Segment(kind, segment.first, segment.last))
        found: list[Mention] = []
        for label, all_ in zip(self.labels, own, strict=True):
            plain = [words_of(segment) for segment in all_ if segment.kind == Kind.PLAIN]
            heads, parts = _heads_and_parts(all_)
            if self.digits:
                digits = [part.kind - Kind.PART + 1 for part in parts]
                several = merged_by_digits(heads, parts, digits)
            else:
                several = merged(heads, parts)
            found += [Mention(words, label) for words in (*plain, *several)]
        return found


def _heads_and_parts(segments: Sequence[Segment]) -> tuple[list[Segment], list[Segment]]:
    heads = [segment for segment in segments if segment.kind == Kind.HEAD]
    return heads, [segment for segment in segments if segment.kind >= Kind.PART]


def _one_label_a_word(mentions: Sequence[Mention]) -> set[Mention]:
    """The mentions that share no word with one of another label that comes before them."""
    label_of: dict[int, str] = {}
    chosen = set()
    for mention in sorted(set(mentions), key=lambda m: (-len(m.words), m)):
        if all(label_of.get(word, mention.label) == mention.label for word in mention.words):
            label_of.update(dict.fromkeys(mention.words, mention.label))
            chosen.add(mention)
    return chosen


def _digit(
    part: Segment, mention: Words, heads: Sequence[Segment], parts: Sequence[Segment]
) -> int:
    """The first digit whose target lies in the part's mention; else 1, or 3 without heads."""
    for digit in DIGITS:
        target = pointed_to(digit, part, heads, parts)
        if target is not None and set(words_of(target)) <= set(mention):
            return digit
    return 1 if heads else 3


@lru_cache(maxsize=64)
def _grammar(labels: tuple[str, ...], kinds: tuple[str, ...]) -> Grammar:
    return chain([(f"{kind}B-{label}", f"{kind}I-{label}") for label in labels for kind in kinds])
