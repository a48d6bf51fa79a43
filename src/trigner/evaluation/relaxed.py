"""Scores that forgive: wrong types, boundaries that are only nearly right, rare types.

The four kinds of SemEval-2013 task 9 (Segura-Bedmar et al., 2013, section 4), in which each entity
answers for one of the other side; overlap, in which it may for several; characters; macro average.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from trigner.evaluation.counts import Score
from trigner.evaluation.matching import matched
from trigner.evaluation.scores import Key
from trigner.mentions import Document

Meet = Callable[[Key, Key], bool]


@dataclass(frozen=True, slots=True)
class Rates:
    """Precision, recall and their harmonic mean, in [0, 1]; an empty denominator gives 0."""

    precision: float
    recall: float
    f1: float


def relaxed_scores(gold: Iterable[Document], predicted: Iterable[Document]) -> dict[str, Rates]:
    """The rates of each kind over all documents, matched as `evaluation.score` does.

    strict: type and characters are equal. exact: characters. type: same type, and some character in
    common. partial: characters are equal, or, for half, some in common. In these four each entity
    has at most one partner, chosen so that most have one. overlap: some entity of the other side
    has the type and a character in common. characters: those of entities, by type, without white
    space. macro: the means of P, R and F1 (strict) over the types.
    """
    pairs = [
        (sorted(_keys(document, document)), sorted(_keys(document, answer)), document.text)
        for document, answer in matched(gold, predicted)
    ]
    numbers = (sum(len(p) for _, p, _ in pairs), sum(len(g) for g, _, _ in pairs))

    def matching(meet: Meet) -> int:
        return sum(len(partners(g, p, meet)) for g, p, _ in pairs)

    exact = matching(_same_place)
    half = sum(_further(g, p) for g, p, _ in pairs)
    right = sum(map(bool, (near for g, p, _ in pairs for near in candidates(p, g, _alike))))
    seen = sum(map(bool, (near for g, p, _ in pairs for near in candidates(g, p, _alike))))
    strict, alike = matching(lambda g, p: g == p), matching(_alike)
    return {
        "strict": _rates(strict, strict, *numbers),
        "exact": _rates(exact, exact, *numbers),
        "partial": _rates(exact + half / 2, exact + half / 2, *numbers),
        "type": _rates(alike, alike, *numbers),
        "overlap": _rates(right, seen, *numbers),
        "characters": _characters(pairs),
        "macro": _macro(pairs),
    }


def candidates(some: Sequence[Key], others: Sequence[Key], meet: Meet) -> list[list[int]]:
    """For each entity, which of the others it meets; only those that share a character can."""
    at: dict[int, list[int]] = defaultdict(list)
    for number, key in enumerate(others):
        for place in _places(key):
            at[place].append(number)
    return [
        [
            n
            for n in sorted({n for place in _places(key) for n in at[place]})
            if meet(key, others[n])
        ]
        for key in some
    ]


def _places(key: Key) -> list[int]:
    # White space alone has no fragments: such entities are together in no place of the text.
    return [n for start, end in key[1] for n in range(start, end)] or [-1]


def partners(gold: Sequence[Key], predicted: Sequence[Key], meet: Meet) -> dict[int, int]:
    """As many pairs as possible of gold and predicted entities that meet, each in one at most.

    Index of predicted -> index of gold; by augmenting paths (Kuhn, 1955).
    """
    near = candidates(gold, predicted, meet)
    taken: dict[int, int] = {}
    for g in range(len(gold)):
        taken.update(_path(g, near, taken))
    return taken


def _path(first: int, near: Sequence[Sequence[int]], taken: Mapping[int, int]) -> dict[int, int]:
    """New pairs by which one more gold entity has a partner; none when it can have none.

    Depth first, without recursion: a path may be as long as there are entities.
    """
    tried: set[int] = set()
    above = [(first, iter(near[first]))]
    chosen: list[int] = []
    while above:
        p = next((p for p in above[-1][1] if p not in tried), None)
        if p is None:
            above.pop()
            del chosen[len(above) - 1 :]
            continue
        tried.add(p)
        chosen.append(p)
        if p not in taken:
            return dict(zip(chosen, (g for g, _ in above), strict=True))
        above.append((taken[p], iter(near[taken[p]])))
    return {}


def _keys(document: Document, source: Document | None) -> set[Key]:
    return set() if source is None else set(map(document.key, source.entities))


def _same_place(one: Key, other: Key) -> bool:
    return one[1] == other[1]


def _overlap(one: Key, other: Key) -> bool:
    return any(a < d and c < b for a, b in one[1] for c, d in other[1])


def _alike(one: Key, other: Key) -> bool:
    return one[0] == other[0] and (_overlap(one, other) or one == other)


def _further(gold: Sequence[Key], predicted: Sequence[Key]) -> int:
    """Pairs that overlap, of those without a partner in the same place: these come first, as two
    halves are never more than one whole."""
    whole = partners(gold, predicted, _same_place)
    taken = set(whole.values())
    left = [g for n, g in enumerate(gold) if n not in taken]
    right = [p for n, p in enumerate(predicted) if n not in whole]
    return len(partners(left, right, _overlap))


def _characters(pairs: Iterable[tuple[Sequence[Key], Sequence[Key], str]]) -> Rates:
    both = golden = found = 0
    for gold, predicted, text in pairs:
        one, other = (
            {
                (label, n)
                for label, fragments in side
                for start, end in fragments
                for n in range(max(0, start), min(end, len(text)))
                if not text[n].isspace()
            }
            for side in (gold, predicted)
        )
        both, golden, found = both + len(one & other), golden + len(one), found + len(other)
    return _rates(both, both, found, golden)


def _macro(pairs: Iterable[tuple[Sequence[Key], Sequence[Key], str]]) -> Rates:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for gold, predicted, _ in pairs:
        for column, keys in enumerate((set(gold) & set(predicted), predicted, gold)):
            for label, _ in keys:
                counts[label][column] += 1
    scores = [Score(*own) for own in counts.values()]
    if not scores:
        return Rates(0.0, 0.0, 0.0)
    sums = (sum(getattr(s, rate) for s in scores) for rate in ("precision", "recall", "f1"))
    return Rates(*(total / len(scores) for total in sums))


def _rates(right: float, seen: float, predicted: int, gold: int) -> Rates:
    precision, recall = right / predicted if predicted else 0.0, seen / gold if gold else 0.0
    total = precision + recall
    return Rates(precision, recall, 2 * precision * recall / total if total else 0.0)
