"""Mentions <-> the output sequence (Yan et al., ACL 2021, section 3.2)."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from trigner.families.seq2seq.automaton import END, FIRST_TYPE, OutputAutomaton
from trigner.families.seq2seq.pointers import Pointers, point
from trigner.families.seq2seq.settings import Order, Representation, Seq2SeqSettings
from trigner.mentions import Mention


@dataclass(frozen=True, slots=True)
class Encoded:
    """An output, `END` included, and the mentions that were left out to keep it short enough."""

    tokens: tuple[int, ...]
    lost: tuple[Mention, ...] = ()


@dataclass(frozen=True, slots=True)
class Decoded:
    """The mentions of an output, each with the places `[start, stop)` of its tokens.

    `dropped` counts groups of pointers that are not a mention, and pointers that no type follows.
    """

    mentions: tuple[tuple[Mention, tuple[int, int]], ...]
    dropped: int = 0


@dataclass(frozen=True)
class Format:
    """How a sentence's mentions are written: what is pointed at, their order, how much at most."""

    labels: tuple[str, ...]
    representation: Representation = "word"
    order: Order = "sorted"
    length_base: int = 10
    length_ratio: float = 3.0

    @classmethod
    def of(cls, labels: Sequence[str], settings: Seq2SeqSettings) -> Format:
        """The format of these settings."""
        return cls(
            tuple(labels),
            settings.pointers,
            settings.order,
            settings.length_base,
            settings.length_ratio,
        )

    def point(self, subwords: Sequence[int]) -> Pointers:
        """The pointers of a sentence whose words have these numbers of subwords."""
        return point(self.representation, subwords)

    def limit(self, pointers: Pointers) -> int:
        """Tokens of an output, at most, `END` included."""
        size = len(pointers) if self.representation == "bpe" else pointers.words
        return self.length_base + int(self.length_ratio * size)

    def automaton(self, pointers: Pointers) -> OutputAutomaton:
        """What outputs for a sentence with these pointers are well-formed."""
        return OutputAutomaton(pointers, len(self.labels), increasing=self.order == "sorted")

    def encode(
        self,
        mentions: Collection[Mention],
        pointers: Pointers,
        limit: int | None = None,
        shuffle: random.Random | None = None,
    ) -> Encoded:
        """The output for a sentence's mentions, of at most `limit` tokens (None: `self.limit`).

        They come in the order of their words and types, or as `shuffle` draws it. Raises ValueError
        for an unknown type or a word outside the sentence.
        """
        room = (self.limit(pointers) if limit is None else limit) - 1
        ordered = sorted(set(mentions), key=lambda m: (m.words, self._type(m)))
        if shuffle is not None:
            shuffle.shuffle(ordered)
        first = FIRST_TYPE + len(self.labels)
        tokens: list[int] = []
        lost = []
        for mention in ordered:
            if mention.words[-1] >= pointers.words:
                raise ValueError(
                    f"word {mention.words[-1]} is outside a sentence of {pointers.words} words"
                )
            own = [first + u for u in pointers.of(mention.words)]
            if len(tokens) + len(own) < room:
                tokens += [*own, FIRST_TYPE + self._type(mention)]
            else:
                lost.append(mention)
        return Encoded((*tokens, END), tuple(lost))

    def _type(self, mention: Mention) -> int:
        try:
            return self.labels.index(mention.label)
        except ValueError:
            raise ValueError(f"unknown label {mention.label!r}") from None

    def decode(self, tokens: Sequence[int], pointers: Pointers) -> Decoded:
        """The mentions of any sequence of tokens, up to its first `END`.

        Groups between types that are not a mention are dropped, as in the paper (section 3.4):
        those without pointers, and those whose pointers are not as the representation has them.
        """
        first = FIRST_TYPE + len(self.labels)
        found = []
        start = dropped = 0
        stop = tokens.index(END) if END in tokens else len(tokens)
        for place, token in enumerate(tokens[:stop]):
            if token >= first:
                continue
            words = pointers.words_of([t - first for t in tokens[start:place]])
            if words is None or token < FIRST_TYPE:
                dropped += 1
            else:
                mention = Mention(words, self.labels[token - FIRST_TYPE])
                found.append((mention, (start, place + 1)))
            start = place + 1
        return Decoded(tuple(found), dropped + (start < stop))

    def round_trip(
        self, mentions: Sequence[Mention], length: int
    ) -> tuple[Collection[Mention], bool]:
        """What comes back of mentions in a sentence of `length` words, and whether all had room."""
        pointers = self.point([1] * length)
        encoded = self.encode(mentions, pointers)
        back = self.decode(encoded.tokens, pointers)
        return [mention for mention, _ in back.mentions], not encoded.lost
