"""The values that travel between all rooms: mentions in sentences, entities in documents.

A *mention* lives on the words of one sentence, an *entity* on the characters of one document.
Both may be discontinuous. All values are frozen; nothing here knows numpy or torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

Fragment = tuple[int, int]
"""Half-open character range `[start, end)`."""


def joined(words: Iterable[int], ranges: Sequence[Fragment]) -> tuple[Fragment, ...]:
    """Character ranges of these words, those of neighbouring words as one.

    `words` are increasing indices into the words' `ranges`. Raises IndexError for others.
    """
    fragments: list[Fragment] = []
    previous = -2
    for word in words:
        start, end = ranges[word]
        if word == previous + 1:
            fragments[-1] = (fragments[-1][0], end)
        else:
            fragments.append((start, end))
        previous = word
    return tuple(fragments)


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """Words of one sentence that together name one thing.

    `words` are word indices, strictly increasing, at least one. Raises ValueError otherwise.
    """

    words: tuple[int, ...]
    label: str

    def __post_init__(self) -> None:
        if not self.words:
            raise ValueError("a mention needs at least one word")
        if self.words[0] < 0 or any(b <= a for a, b in pairwise(self.words)):
            raise ValueError(f"word indices must be strictly increasing: {list(self.words)}")

    @property
    def is_discontinuous(self) -> bool:
        """True when some word between the first and the last is not part of the mention."""
        return self.words[-1] - self.words[0] >= len(self.words)

    @property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """First and last word, both inclusive, of each run of neighbouring words, in order."""
        words = self.words
        gaps = [(a, b) for a, b in pairwise(words) if b > a + 1] if self.is_discontinuous else ()
        firsts = (words[0], *(after for _, after in gaps))
        return tuple(zip(firsts, (*(before for before, _ in gaps), words[-1]), strict=True))


@dataclass(frozen=True, slots=True)
class ScoredMention:
    """A mention and how sure the system is of it, in [0, 1]."""

    mention: Mention
    score: float


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words of one sentence and where they stand in the document's text.

    `words[i]` covers the characters `offsets[i]` of the text of the document `document`;
    `index` counts the sentences of that document from 0.
    """

    document: str
    index: int
    words: tuple[str, ...]
    offsets: tuple[Fragment, ...]
    mentions: tuple[Mention, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    """Characters of one document that together name one thing.

    `fragments` are sorted and do not overlap; they are kept as the source gave them (they may
    touch, or have blanks at their edges): `Document.key` is what comparisons use.
    `text` is the surface: the fragments' texts joined by one blank.
    `score` is in [0, 1], or None for gold. `id` is the source's own name, such as `T1`.
    """

    label: str
    fragments: tuple[Fragment, ...]
    text: str
    score: float | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Extra:
    """Content of a source file that is no entity (relations, notes ...), as `format` wrote it."""

    format: str
    content: str


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its entities.

    `words` is None for raw text. A document whose source came as ready words (grid JSON, inline
    text) is one sentence: its text is the words joined by blanks, `words` their character ranges.
    """

    id: str
    text: str
    entities: tuple[Entity, ...] = ()
    words: tuple[Fragment, ...] | None = None
    extras: tuple[Extra, ...] = field(default=(), repr=False)

    def surface(self, fragments: Iterable[Fragment]) -> str:
        """The texts of the fragments, joined by one blank."""
        return " ".join(self.text[start:end] for start, end in fragments)

    def key(self, entity: Entity) -> tuple[str, tuple[Fragment, ...]]:
        """What two annotations of the same thing have in common: label and merged fragments.

        Blanks at the edges of a fragment are cut off, fragments with nothing but white space
        between them are one (a given word of white space counts as something between).
        """
        return entity.label, self.merged(entity.fragments)

    def merged(self, fragments: Iterable[Fragment]) -> tuple[Fragment, ...]:
        """Sorted fragments without blanks at the edges and without white-space-only gaps."""
        merged: list[Fragment] = []
        for start, end in sorted(fragments):
            piece = self.text[start:end]
            start, end = (
                start + len(piece) - len(piece.lstrip()),
                end - len(piece) + len(piece.rstrip()),
            )
            if start >= end:
                continue
            if merged and start >= merged[-1][0] and self._only_blank(merged[-1][1], start):
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return tuple(merged)

    def is_discontinuous(self, entity: Entity) -> bool:
        """True when more than white space stands between two fragments."""
        return len(self.merged(entity.fragments)) > 1

    def _only_blank(self, start: int, end: int) -> bool:
        if self.text[start:end].strip():
            return False
        return self.words is None or not any(start <= a and b <= end for a, b in self.words)
