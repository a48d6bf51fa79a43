"""The interface of a tagging scheme: mentions to tags, scores to mentions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from trigner.arrays import Floats, Integers, Logits, Tags
from trigner.mentions import Mention, ScoredMention

Words = tuple[int, ...]
Cell = tuple[int, int, int]
"""Row, column and tag of a grid."""

Triangle = Literal["both", "upper", "lower"]


class TagSpace(Enum):
    """The shape of a scheme's tags; it determines the tagger and the loss."""

    EXCLUSIVE_GRID = "exclusive grid"
    """One class per cell: tags `[L, L]`, scores `[L, L, C]`. Class 0 is none."""

    MULTI_LABEL_GRID = "multi-label grid"
    """Any number of tags per cell: tags `[L, L, C]` of 0 and 1, scores `[L, L, C]`; a score above
    0 means that the tag is set."""

    SEQUENCE = "sequence"
    """One tag per word: tags `[L]`, class 0 is outside. Scores `[L, C]`, or `[L, A]` for each arc
    of the scheme's automaton, where a pair of neighbouring tags has a weight."""

    @property
    def word_axes(self) -> int:
        """How many axes of tags and scores run over words."""
        return 1 if self is TagSpace.SEQUENCE else 2


@dataclass(frozen=True, slots=True)
class TagGroup:
    """Tags of a multi-label grid that share a loss, `start` to `stop` of the scheme's tags.

    `triangle`: where they occur, the diagonal included. `auxiliary`: they are trained on, but not
    decoded.
    """

    name: str
    start: int
    stop: int
    triangle: Triangle = "both"
    auxiliary: bool = False


@dataclass(frozen=True, slots=True)
class Encoding:
    """Tags of one sentence and the mentions that the tags cannot express."""

    tags: Tags
    lost: tuple[Mention, ...] = ()


@dataclass(frozen=True, slots=True)
class Decoding:
    """Mentions of one sentence, best first.

    `complete` is False when a bound was hit: there may be others, and `mentions` holds the best of
    those that were found.
    """

    mentions: tuple[ScoredMention, ...]
    complete: bool = True


class Scheme(Protocol):
    """Mentions <-> tags. `L` is the number of words of a sentence, `C` the number of classes."""

    @property
    def name(self) -> str:
        """The scheme's name in commands and model files."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """Entity types, in the order of their classes."""
        ...

    @property
    def tags(self) -> tuple[str, ...]:
        """Names of the classes, in order; its length is `C`. Those of a type hold its label.

        Apart from labels they do not depend on which these are, only on how many.
        """
        ...

    @property
    def tag_space(self) -> TagSpace:
        """The shape of tags and scores."""
        ...

    @property
    def groups(self) -> tuple[TagGroup, ...]:
        """Groups of tags whose losses a multi-label grid adds up; empty for other tag spaces."""
        ...

    def encode(self, mentions: Sequence[Mention], length: int) -> Encoding:
        """Tags of a sentence of `length` words.

        Raises ValueError for a label that the scheme does not know or a word outside the sentence.
        """
        ...

    def decode(self, scores: Logits) -> Decoding:
        """Mentions from the (unnormalised) scores of one sentence, without padding."""
        ...

    def decode_tags(self, tags: Tags) -> Decoding:
        """Mentions from given tags, each with score 1."""
        ...


@runtime_checkable
class Explaining(Protocol):
    """A scheme whose mentions' scores are not the product over the cells that encode them."""

    def evidence(self, mentions: Sequence[Mention], scores: Logits) -> list[tuple[Cell, ...]]:
        """For each mention the cells of `scores [L, L, C]` whose probabilities, multiplied, are its
        score.

        Raises KeyError for a mention that these scores do not decode to.
        """
        ...


def check(mentions: Sequence[Mention], labels: tuple[str, ...], length: int) -> None:
    """Raises ValueError for an unknown label or a word outside a sentence of `length` words."""
    for mention in mentions:
        if mention.words[-1] >= length:
            raise ValueError(f"word {mention.words[-1]} is outside a sentence of {length} words")
        if mention.label not in labels:
            raise ValueError(f"unknown label {mention.label!r}")


def grid_tags(
    scheme: Scheme,
    mentions: Sequence[Mention],
    length: int,
    cells: Callable[[Mention], Iterable[Cell]],
) -> Tags:
    """Tags `[L, L, C]` of a multi-label grid: 1 in the `cells` of the mentions, 0 elsewhere.

    Raises ValueError as `check` does.
    """
    check(mentions, scheme.labels, length)
    tags = np.zeros((length, length, len(scheme.tags)), dtype=np.int8)
    for mention in mentions:
        for cell in cells(mention):
            tags[cell] = 1
    return tags


def best_of(found: list[ScoredMention], most: int, *, complete: bool) -> Decoding:
    """The `most` best of what was found; `complete` says whether that was all there is."""
    found.sort(key=lambda scored: -scored.score)
    return Decoding(tuple(found[:most]), complete and len(found) <= most)


def log_probability(scores: Logits) -> Floats:
    """Log-probabilities of tags of a multi-label grid: logarithms of the logistic function."""
    result: Floats = -np.logaddexp(0, -scores.astype(np.float64))
    return result


def tagged_spans(logits: Logits) -> tuple[Integers, Integers, Floats]:
    """First words, last words and log-probabilities of the spans that have a tag, `[N]` each.

    Of its scores `[L, L]` those on and above the diagonal count.
    """
    rows, columns = np.nonzero(np.triu(logits > 0))
    return rows, columns, log_probability(logits[rows, columns])


def decoded_tags(scheme: Scheme) -> tuple[int, ...]:
    """Indices of the tags that decoding reads: all but those of auxiliary groups."""
    left_out = {tag for g in scheme.groups if g.auxiliary for tag in range(g.start, g.stop)}
    return tuple(tag for tag in range(len(scheme.tags)) if tag not in left_out)


def round_trip(
    scheme: Scheme, mentions: Sequence[Mention], length: int
) -> tuple[list[Mention], bool]:
    """What comes back of mentions from their tags, and whether decoding was complete."""
    decoding = scheme.decode_tags(scheme.encode(mentions, length).tags)
    return [scored.mention for scored in decoding.mentions], decoding.complete
