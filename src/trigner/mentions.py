"""The values that travel between all rooms: mentions in sentences, entities in documents.

A *mention* lives on the words of one sentence, an *entity* on the characters of one document.
Both may be discontinuous. All values are frozen; nothing here knows numpy or torch.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

from trigner.errors import miscounted

Fragment = tuple[int, int]
"""Half-open character range `[start, end)`."""

CONTEXT_WORDS = 64
"""Words of the document that a sentence has on either side, as many as FLERT reads along."""

SCORE_DIGITS = 4
"""Decimal places of a predicted score: what is behind them depends on batch and machine."""

ENTITY_KEYS = frozenset({"label", "fragments", "text", "score", "id"})
DOCUMENT_KEYS = frozenset({"id", "text", "entities", "words", "extras"})
"""What `to_dict` calls the parts of entities and documents: names that no field can have."""


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


def shortened(value: object, length: int = 80) -> str:
    """A value as messages quote it: its `repr`, with its middle left out when it is long."""
    # Of a long string no more is looked at than is shown.
    quoted = repr(value[:length]) if isinstance(value, str) else repr(value)
    size = len(value) if isinstance(value, str) else len(quoted)
    if size <= length:
        return quoted
    return f"{quoted[:length]} ... ({size:,} characters)"


def surface_of(text: str, fragments: Iterable[Fragment]) -> str:
    """The texts of the fragments, joined by one blank."""
    return " ".join(text[start:end] for start, end in fragments)


def fragment_from(value: object) -> Fragment:
    """A JSON pair of integers. Raises ValueError for anything else."""
    if not isinstance(value, list) or [type(bound) for bound in value] != [int, int]:
        raise ValueError(f"expected a pair of integers, found {shortened(value)}")
    return value[0], value[1]


def score_from(value: Any) -> float | None:
    """A score as JSON has it. Raises ValueError for anything but a number in [0, 1] or None."""
    if value is not None and (type(value) not in (int, float) or not 0 <= value <= 1):
        raise ValueError(f"score {shortened(value)} is not a number in [0, 1]")
    return None if value is None else float(value)


def check_fragments(fragments: Sequence[Fragment], length: int) -> None:
    """Raises ValueError when sorted fragments are none, empty, overlap or lie outside the text.

    `length` is that of the text in characters.
    """
    if not fragments:
        raise ValueError("an entity needs at least one fragment")
    for start, end in fragments:
        if start >= end:
            raise ValueError(f"fragment {start} {end} does not end after its start")
        if start < 0 or end > length:
            raise ValueError(f"fragment {start} {end} is outside the text of {length} characters")
    for (start, end), (following, last) in pairwise(fragments):
        if following < end:
            raise ValueError(f"fragments {start} {end} and {following} {last} overlap")


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

    def shifted(self, by: int) -> Mention:
        """The same mention where its sentence begins `by` words later."""
        return Mention(tuple(word + by for word in self.words), self.label)

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


def types_of(documents: Iterable[Document]) -> tuple[str, ...]:
    """The entity types that stand in documents, sorted."""
    return tuple(sorted({e.label for d in documents for e in d.entities}))


def overlapping(mentions: Iterable[Mention]) -> list[list[Mention]]:
    """Mentions whose extents overlap, or are joined by others that do."""
    groups: list[list[Mention]] = []
    stop = 0
    for mention in sorted(mentions):
        if not groups or mention.words[0] >= stop:
            groups.append([])
        groups[-1].append(mention)
        stop = max(stop, mention.words[-1] + 1)
    return groups


@dataclass(frozen=True, slots=True)
class ScoredMention:
    """A mention and how sure the system is of it, in [0, 1]."""

    mention: Mention
    score: float


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words of one sentence and where they stand in the document's text.

    `words[i]` covers the characters `offsets[i]` of the text of the document `document`;
    `index` counts the sentences of that document from 0. `left` and `right` are the words of the
    document before and behind it, the `CONTEXT_WORDS` nearest of each.
    """

    document: str
    index: int
    words: tuple[str, ...]
    offsets: tuple[Fragment, ...]
    mentions: tuple[Mention, ...] = ()
    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity:
    """Characters of one document that together name one thing.

    `fragments` are sorted and do not overlap; they are kept as the source gave them (they may
    touch, or have blanks at their edges): `Document.key` is what comparisons use.
    `text` is the surface: the fragments' texts joined by one blank.
    `score` is in [0, 1], or None for gold. `id` is the source's own name, such as `T1`.
    `fields` are JSON values that came with it under names of their own, such as `negated`.
    Raises ValueError for a field that has the name of another part of an entity.
    """

    label: str
    fragments: tuple[Fragment, ...]
    text: str
    score: float | None = None
    id: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.fields:
            _check_names(self.fields, ENTITY_KEYS)

    @classmethod
    def in_text(
        cls,
        text: str,
        label: str,
        fragments: Sequence[Fragment],
        *,
        surface: object = None,
        score: float | None = None,
        id: str | None = None,
        fields: Mapping[str, Any] | None = None,
    ) -> Self:
        """An entity with sorted fragments and the surface that `text` has there.

        Raises ValueError as `check_fragments` does, and for a given `surface` that is another, be
        the fragments in order or as given; white space does not matter.
        """
        ordered = tuple(sorted(fragments))
        check_fragments(ordered, len(text))
        own, as_given = surface_of(text, ordered), surface_of(text, fragments)
        words = surface.split() if isinstance(surface, str) else None
        if surface is not None and words not in (own.split(), as_given.split()):
            claimed, found = shortened(surface), shortened(own)
            message = f"annotated text {claimed} differs from the text at its offsets, {found}"
            raise ValueError(message + miscounted(str(surface), text, ordered))
        return cls(label, ordered, own, score, id, fields or {})

    def to_dict(self) -> dict[str, Any]:
        """The entity as JSON has it: `score` and `id` where they have a value, then its fields."""
        # Numbers may be NumPy's, which JSON does not know.
        fragments = [[int(start), int(end)] for start, end in self.fragments]
        value: dict[str, Any] = {"label": self.label, "fragments": fragments, "text": self.text}
        rest = {"score": None if self.score is None else float(self.score), "id": self.id}
        value |= {key: given for key, given in rest.items() if given is not None}
        return {**value, **self.fields}

    @classmethod
    def from_dict(cls, value: object, text: str) -> Self:
        """The entity of `text` that `to_dict` gave; keys that it does not know are fields.

        Raises ValueError for anything else.
        """
        entry: dict[str, Any] = value if isinstance(value, dict) else {}
        label, given, score, id = map(entry.get, ("label", "fragments", "score", "id"))
        if not isinstance(label, str) or not label or not isinstance(given, list):
            raise ValueError(f"an entity needs `label` and `fragments`: {shortened(value)}")
        score = score_from(score)
        if id is not None and not isinstance(id, str):
            raise ValueError(f"entity id {shortened(id)} is not a string")
        return cls.in_text(
            text,
            label,
            [fragment_from(pair) for pair in given],
            surface=entry.get("text"),
            score=score,
            id=id,
            fields={key: own for key, own in entry.items() if key not in ENTITY_KEYS},
        )


@dataclass(frozen=True, slots=True)
class Extra:
    """What a source file has besides entities (relations, notes ...), as `format` wrote it."""

    format: str
    content: str

    @classmethod
    def from_dict(cls, value: object) -> Self:
        """From `{"format": ..., "content": ...}`. Raises ValueError for anything else."""
        match value:
            case {"format": str(format), "content": str(content)}:
                return cls(format, content)
        raise ValueError(f"an extra needs `format` and `content`: {shortened(value)}")


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its entities.

    `words` is None for raw text. A document whose source came as ready words (grid JSON, inline
    text) is one sentence: its text is the words joined by blanks, `words` their character ranges.
    `fields` are JSON values that came with it under names of their own, such as `patient`.
    Raises ValueError for a field that has the name of another part of a document.
    """

    id: str
    text: str
    entities: tuple[Entity, ...] = ()
    words: tuple[Fragment, ...] | None = None
    extras: tuple[Extra, ...] = field(default=(), repr=False)
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.fields:
            _check_names(self.fields, DOCUMENT_KEYS)

    def surface(self, fragments: Iterable[Fragment]) -> str:
        """The texts of the fragments, joined by one blank."""
        return surface_of(self.text, fragments)

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
            start += len(piece) - len(piece.lstrip())
            end -= len(piece) - len(piece.rstrip())
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

    def to_dict(self) -> dict[str, Any]:
        """The document as a line of JSONL has it: `words` and `extras` where there are some, then
        its fields."""
        entities = [entity.to_dict() for entity in self.entities]
        value: dict[str, Any] = {"id": self.id, "text": self.text, "entities": entities}
        if self.words is not None:
            value["words"] = [[int(start), int(end)] for start, end in self.words]
        if self.extras:
            value["extras"] = [{"format": e.format, "content": e.content} for e in self.extras]
        return {**value, **self.fields}

    @classmethod
    def from_dict(cls, value: object, *, skip: Callable[[str], object] | None = None) -> Self:
        """The document that `to_dict` gave; its offsets and surfaces are checked, keys that it does
        not know are fields.

        Raises ValueError for anything else. With `skip`, an invalid entity is left out instead and
        `skip` called with what is wrong with it.
        """
        if not isinstance(value, dict) or not isinstance(value.get("text"), str):
            raise ValueError("expected an object with a `text`")
        text, id = value["text"], value.get("id")
        if type(id) not in (str, int) or id == "":
            raise ValueError(f"expected a string as `id`, found {shortened(id)}")
        entities = []
        for entry in _list(value, "entities"):
            try:
                entities.append(Entity.from_dict(entry, text))
            except ValueError as error:
                if skip is None:
                    raise
                skip(str(error))
        words = None
        if value.get("words") is not None:
            words = tuple(fragment_from(pair) for pair in _list(value, "words"))
            # Given words may be empty, but not overlap.
            bounds = [0, *(bound for word in words for bound in word), len(text)]
            if bounds != sorted(bounds):
                raise ValueError("`words` overlap, are out of order or outside the text")
        extras = tuple(Extra.from_dict(entry) for entry in _list(value, "extras"))
        fields = {key: own for key, own in value.items() if key not in DOCUMENT_KEYS}
        return cls(str(id), text, tuple(entities), words, extras, fields)

    def _only_blank(self, start: int, end: int) -> bool:
        if self.text[start:end].strip():
            return False
        if self.words is None:
            return True
        word = bisect_left(self.words, start, key=lambda own: own[0])  # the first not before
        return word == len(self.words) or self.words[word][1] > end


def _check_names(fields: Mapping[str, Any], taken: frozenset[str]) -> None:
    if names := sorted(taken & fields.keys()):
        raise ValueError(f"a field cannot be called `{names[0]}`: that has a meaning of its own")


def _list(value: dict[str, Any], key: str) -> list[Any]:
    found = value.get(key, [])
    if not isinstance(found, list):
        raise ValueError(f"`{key}` is not a list")
    return found
