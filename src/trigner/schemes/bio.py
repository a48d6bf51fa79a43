"""Flat BIO: a baseline that cannot represent discontinuous mentions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from trigner.arrays import Integers, Logits, Tags
from trigner.mentions import Mention
from trigner.schemes.chain import chain, segments
from trigner.schemes.grammar import Grammar
from trigner.schemes.scheme import Decoding, Encoding, TagGroup, TagSpace, check
from trigner.schemes.sequence_decoding import apart, certain, decode


@dataclass(frozen=True, slots=True)
class Bio:
    """One tag a word: `O`, and `B-type` and `I-type` for its first and further words.

    Discontinuous mentions are lost. Of overlapping continuous ones the longest is kept, of equally
    long ones the first. Lost mentions leave no tags.
    """

    labels: tuple[str, ...]
    name: str = field(default="bio", init=False)
    tag_space: TagSpace = field(default=TagSpace.SEQUENCE, init=False)
    groups: tuple[TagGroup, ...] = field(default=(), init=False)

    @property
    def grammar(self) -> Grammar:
        """`I-type` follows `B-type` or `I-type` only."""
        return _grammar(self.labels)

    @property
    def tags(self) -> tuple[str, ...]:
        """O, then B and I of each label."""
        return self.grammar.tags

    def encode(self, mentions: Sequence[Mention], length: int) -> Encoding:
        """Tags `[L]`."""
        check(mentions, self.labels, length)
        tags = np.zeros(length, dtype=np.int64)
        encoded = set()
        for mention in sorted(set(mentions), key=lambda m: (-len(m.words), m)):
            words = slice(mention.words[0], mention.words[-1] + 1)
            if not mention.is_discontinuous and not tags[words].any():
                encoded.add(mention)
                begin = 1 + 2 * self.labels.index(mention.label)
                tags[words] = begin + 1
                tags[words.start] = begin
        return Encoding(tags, tuple(m for m in mentions if m not in encoded))

    def decode(self, scores: Logits) -> Decoding:
        """Mentions of the best well-formed tags; scores as in `marginals.marginals`."""
        return decode(self.grammar, scores, lambda tags: apart(self._read(tags)), limit=len(scores))

    def decode_tags(self, tags: Tags) -> Decoding:
        """Mentions of tags `[L]`, each with score 1. A stray `I` begins a mention."""
        return certain(self._read(tags.astype(np.int64)), limit=len(tags))

    def _read(self, tags: Integers) -> list[Mention]:
        return [
            Mention(tuple(range(s.first, s.last + 1)), self.labels[s.kind]) for s in segments(tags)
        ]


@lru_cache(maxsize=64)
def _grammar(labels: tuple[str, ...]) -> Grammar:
    return chain([(f"B-{label}", f"I-{label}") for label in labels])
