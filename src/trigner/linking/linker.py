"""From the text of an entity to the rows of a vocabulary that it may mean.

A term is the same text, the same words (`normalised`), or more or less alike: by characters, with
rapidfuzz, and if there are vectors by what the words mean. What has no words is the same text or
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trigner.arrays import Floats
from trigner.errors import InputError, require_extra
from trigner.linking.vocabulary import Concept, Vocabulary, normalised, spellings
from trigner.mentions import SCORE_DIGITS, Document, Entity, Sentence

Match = Literal["exact", "words", "alike"]
Vectors = Callable[[Sequence[str]], NDArray[np.float32]]
"""Vectors `[N, D]` of length 1 for N texts."""

THRESHOLD = 0.65
"""Least score of a code that is taken (research/decisions/linking.md)."""

_REMEMBERED = 10_000  # texts: the same ones come again and again


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row of the vocabulary that a text may mean, the term of it that is nearest, and how near.

    `score` is 1 for the same words, else below it.
    """

    code: str
    name: str
    term: str
    match: Match
    score: float


@dataclass
class Linker:
    """Gives texts the codes of a vocabulary. An annotator of `Extractor`.

    At most so many `candidates` a text, the best first: of several with the same words the one
    that is spelt most alike, and of several with one score the one that comes first in the
    vocabulary. The best is taken when its score is at least `threshold`.
    """

    vocabulary: Vocabulary
    candidates: int = 5
    threshold: float = THRESHOLD
    vectors: Vectors | None = None
    _terms: _Terms = field(init=False, repr=False)
    _known: dict[str, tuple[Candidate, ...]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        require_extra("link", "rapidfuzz")
        given: object = self.candidates
        if not isinstance(given, int) or given < 1:
            raise InputError(f"candidates must be a whole number of at least 1; got {given}")
        if not 0 <= self.threshold <= 1:
            raise InputError(f"the threshold of links must be from 0 to 1; got {self.threshold}")
        self._terms = _Terms.of(self.vocabulary, self.vectors)

    def find(self, text: str) -> tuple[Candidate, ...]:
        """The rows that a text may mean, best first; none when nothing is alike at all."""
        if text not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[text] = self._terms.nearest(text, self.candidates)
        return self._known[text]

    def fields(self, text: str) -> dict[str, Any]:
        """What an entity with this text gets: its `code`, if one is taken, and `candidates`."""
        found = self.find(text)
        if not found:
            return {}
        code = {"code": found[0].code} if found[0].score >= self.threshold else {}
        return {**code, "candidates": [asdict(candidate) for candidate in found]}

    def __call__(self, document: Document, sentence: Sentence, entity: Entity) -> dict[str, Any]:
        """The fields of an entity; only its text counts, the fragments joined by blanks."""
        return self.fields(entity.text)

    def link(self, document: Document) -> Document:
        """The document with codes; those that its entities had are replaced."""
        entities = []
        for entity in document.entities:
            own = {k: v for k, v in entity.fields.items() if k not in ("code", "candidates")}
            entities.append(replace(entity, fields={**own, **self.fields(entity.text)}))
        return replace(document, entities=tuple(entities))


@dataclass(frozen=True)
class _Terms:
    """All terms of a vocabulary, term `i` that of the concept `concepts[owners[i]]`.

    The terms `wordless` are `plain` texts of no characters: only the same text is like them.
    """

    concepts: tuple[Concept, ...]
    owners: NDArray[np.intp]
    texts: tuple[str, ...]
    plain: tuple[str, ...]
    wordless: NDArray[np.intp]
    vectors: Vectors | None
    matrix: NDArray[np.float32] | None

    @classmethod
    def of(cls, vocabulary: Vocabulary, vectors: Vectors | None) -> _Terms:
        concepts = vocabulary.concepts
        texts = tuple(term for concept in concepts for term in concept.terms)
        owners = np.repeat(np.arange(len(concepts)), [len(c.terms) for c in concepts])
        plain = tuple(map(normalised, texts))
        wordless = np.flatnonzero([not own for own in plain])
        matrix = vectors(texts) if vectors else None
        return cls(concepts, owners, texts, plain, wordless, vectors, matrix)

    def nearest(self, text: str, most: int) -> tuple[Candidate, ...]:
        """The best term of each of the nearest concepts."""
        scores = self._scores(text)
        found: dict[int, Candidate] = {}
        for term in self._best_first(text, scores):
            score = float(scores[term])
            if score <= 0 or len(found) == most:
                break
            owner = int(self.owners[term])
            if owner not in found:
                concept = self.concepts[owner]
                match = self._match(text, int(term))
                found[owner] = Candidate(concept.code, concept.name, self.texts[term], match, score)
        return tuple(found.values())

    def _best_first(self, text: str, scores: Floats) -> NDArray[np.intp]:
        own = spellings(text)

        def differences(term: int) -> list[bool]:
            return [a != b for a, b in zip(own, spellings(self.texts[term]), strict=True)]

        ordered = np.argsort(-scores, kind="stable")
        same = int(np.count_nonzero(scores == 1))  # few: what they are spelt like is looked up
        ordered[:same] = sorted(ordered[:same], key=differences)
        return ordered

    def _scores(self, text: str) -> Floats:
        """How near each term is, in [0, 1]: 1 for the same words, and for them alone."""
        from rapidfuzz import fuzz, process

        plain = normalised(text)
        if not plain:
            return self._equal(text)
        (ratios,) = process.cdist([plain], self.plain, scorer=fuzz.ratio, dtype=np.float64)
        scores: Floats = ratios / 100
        if self.vectors is not None and self.matrix is not None:
            cosines = self.matrix @ self.vectors([text])[0]
            scores = (scores + np.clip(cosines, 0, 1)) / 2
        below_one = 1 - 10**-SCORE_DIGITS
        rounded = np.minimum(np.round(scores, SCORE_DIGITS), below_one)
        rounded[self.wordless] = 0
        return np.where(ratios == 100, 1.0, rounded)

    def _equal(self, text: str) -> Floats:
        """1 for the terms that are the text, white space aside, else 0: for one without words."""
        scores = np.zeros(len(self.texts))
        pieces = text.split()
        for term in self.wordless:
            scores[term] = pieces != [] and self.texts[term].split() == pieces
        return scores

    def _match(self, text: str, term: int) -> Match:
        if self.texts[term] == text:
            return "exact"
        return "words" if self.plain[term] == normalised(text) else "alike"
