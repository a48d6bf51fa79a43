"""Whether the members of a coordination are of one kind, by how annotators used their words.

Nothing here knows a language. Parts of mentions ("renal" and "hepatic", beside "failure") may be
exchanged where all of this holds:

    words    belong to mentions of the type: others are function words or verbs, which cannot be
             taken out of their sentence ("used in", "appetite initially")
    lengths  differ by one word at most
    cuts     are not beside a sign: "non-infectious" stays whole
    stems    no two words have the same, those that are shared included: nobody writes "weight and
             body weight gain" or "urinary tract infection and infections"
    digits   are in neither mention: numbers differ in what they measure, and annotators rarely
             split them

Whole mentions may be joined where lengths, stems and digits are like this, the words of those put
in belong to mentions of the type, and all have been annotated between the same two words: after "I"
stands "could not sleep", but never "tremor".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import takewhile

from trigner.mentions import Mention, Sentence

Words = tuple[str, ...]

BELONGS = 0.7
"""Share of a word's places that are in mentions of a type, at least, if it belongs to these."""

STEM = 0.6
"""Share of the shorter of two words with which both begin, at least, if they have one stem."""


class Kinds:
    """How annotated sentences use their words."""

    def __init__(self, sentences: Iterable[Sentence], conjunctions: Sequence[str]) -> None:
        self._conjunctions = frozenset(conjunctions)
        self._all = Counter[str]()
        self._inside: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for sentence in sentences:
            words = lower(sentence.words)
            self._all.update(words)
            for label, place in {(m.label, i) for m in sentence.mentions for i in m.words}:
                self._inside[label][words[place]] += 1

    def belong(self, label: str, words: Words) -> bool:
        """Whether words belong to mentions of a type."""
        inside = self._inside[label]
        return all(inside[word] >= BELONGS * self._all[word] for word in lower(words))

    def allow_part(self, label: str, part: Words, shared: Words, *, first: bool) -> bool:
        """Whether a part may be cut off the shared words, which stand `first` or after it."""
        cut = (shared[-1], part[0]) if first else (part[-1], shared[0])
        sound = all(map(_speaks, cut)) and not _has_digits(shared)
        return sound and self.belong(label, part) and not _related(part, shared)

    def frame(self, sentence: Sentence, mention: Mention) -> tuple[str, str]:
        """The words before and after a mention; "" for signs, numbers, conjunctions and none."""
        words = ("", *lower(sentence.words), "")
        return self._said(words[mention.words[0]]), self._said(words[mention.words[-1] + 2])

    def _said(self, word: str) -> str:
        return word if any(map(str.isalpha, word)) and word not in self._conjunctions else ""


def alike(one: Words, other: Words) -> bool:
    """Whether two members, parts or whole mentions, may stand together."""
    lengths = abs(len(one) - len(other)) <= 1
    return lengths and not any(map(_has_digits, (one, other))) and not _related(one, other)


def lower(words: Words) -> Words:
    """The words in lower case."""
    return tuple(word.lower() for word in words)


def _related(one: Words, other: Words) -> bool:
    """Whether a word of one has the stem of a word of the other."""
    return any(
        _common(first, second) >= STEM * min(len(first), len(second))
        for first in filter(_speaks, lower(one))
        for second in filter(_speaks, lower(other))
    )


def _speaks(word: str) -> bool:
    return any(map(str.isalnum, word))


def _common(first: str, second: str) -> int:
    """With how many equal characters two words begin."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _has_digits(words: Words) -> bool:
    return any(map(str.isdigit, "".join(words)))
