"""Gold next to predictions, entity by entity: what was right and what kind of error the rest is."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import Literal, get_args

from trigner.evaluation.matching import matched
from trigner.evaluation.scores import Key
from trigner.mentions import Document, Entity, Fragment

Kind = Literal["correct", "boundary", "split", "joined", "type", "missed", "spurious"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""In the order of reports."""

Keys = dict[Key, None]
"""A set of keys that is in order."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Entities of gold and prediction that belong together, and how they differ.

    `correct`: same type, same characters. `type`: same characters, other type. `split`: one gold
    entity and several predictions of its type, each inside its characters, none overlapping
    another. `joined`: the same the other way round. `boundary`: one of each, of the same type, with
    characters in common. `missed`: one gold entity alone. `spurious`: one prediction alone.
    Fragments are merged as in `Document.key`.
    """

    kind: Kind
    gold: tuple[Entity, ...]
    predicted: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class Count:
    """Entities of one kind on both sides."""

    gold: int
    predicted: int


@dataclass(frozen=True, slots=True)
class ComparedDocument:
    """A gold document and its findings in the order of the text."""

    document: Document
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All gold documents with their findings."""

    documents: tuple[ComparedDocument, ...]

    def counts(self) -> dict[Kind, Count]:
        """Entities by kind, every kind in the order of `KINDS`.

        Gold over all kinds is the gold of `Scores.overall`, predictions likewise, and `correct`
        holds its correct ones on both sides.
        """
        findings = [finding for part in self.documents for finding in part.findings]
        return {
            kind: Count(
                gold=sum(len(f.gold) for f in findings if f.kind == kind),
                predicted=sum(len(f.predicted) for f in findings if f.kind == kind),
            )
            for kind in KINDS
        }


def compare(gold: Iterable[Document], predicted: Iterable[Document]) -> Comparison:
    """Every distinct entity of both sides in exactly one finding.

    Documents are matched by id as in `score`, which raises InputError for the same reasons. What
    could be of several kinds is, in this order: correct, type, split, joined, boundary.
    """
    compared = []
    for document, answer in matched(gold, predicted):
        left = _distinct(document, document)
        right = _distinct(document, answer) if answer is not None else {}
        findings = list(_findings(left, right))
        findings.sort(key=lambda f: min((e.fragments, e.label) for e in (*f.gold, *f.predicted)))
        compared.append(ComparedDocument(document, tuple(findings)))
    return Comparison(tuple(compared))


def _distinct(document: Document, source: Document) -> dict[Key, Entity]:
    """Entities by key in the order of the text; of several with one key the surest stays."""
    found: dict[Key, Entity] = {}
    for entity in source.entities:
        key = document.key(entity)
        before = found.get(key)
        if before is None or (entity.score or 0) > (before.score or 0):
            # White space alone has no merged fragments, and is shown as it was given.
            fragments = key[1] or entity.fragments
            found[key] = Entity(
                entity.label, fragments, document.surface(fragments), entity.score, entity.id
            )
    return dict(sorted(found.items(), key=lambda item: (item[0][1], item[0][0])))


def _findings(gold: dict[Key, Entity], predicted: dict[Key, Entity]) -> Iterator[Finding]:
    for key in gold.keys() & predicted.keys():
        yield Finding("correct", (gold[key],), (predicted[key],))
    left = [key for key in gold if key not in predicted]
    right = [key for key in predicted if key not in gold]
    for some, others in _clusters(left, right):
        for kind, mine, theirs in _groups(some, others):
            yield Finding(
                kind, tuple(gold[key] for key in mine), tuple(predicted[key] for key in theirs)
            )


def _clusters(left: Sequence[Key], right: Sequence[Key]) -> list[tuple[list[Key], list[Key]]]:
    """Both sides cut where no entity runs across, as only entities that meet belong together."""
    clusters: list[tuple[list[Key], list[Key]]] = []
    reach = -1
    everything = [(key, 0) for key in left] + [(key, 1) for key in right]
    for key, side in sorted(everything, key=lambda item: item[0][1]):
        if not clusters or (key[1] and key[1][0][0] >= reach):
            clusters.append(([], []))
        clusters[-1][side].append(key)
        if key[1]:
            reach = max(reach, key[1][-1][1])
    return clusters


def _groups(
    gold: Sequence[Key], predicted: Sequence[Key]
) -> Iterator[tuple[Kind, list[Key], list[Key]]]:
    """What is not correct, grouped."""
    # As sets that are in order: what a group has taken is gone.
    left, right = dict.fromkeys(gold), dict.fromkeys(predicted)
    for mine, other in _same_characters(left, right):
        yield "type", [mine], [other]
    for whole, pieces in _wholes(left, right):
        yield "split", [whole], pieces
    for whole, pieces in _wholes(right, left):
        yield "joined", pieces, [whole]
    for mine, other in _overlapping(left, right):
        yield "boundary", [mine], [other]
    for key in left:
        yield "missed", [key], []
    for key in right:
        yield "spurious", [], [key]


def _same_characters(left: Keys, right: Keys) -> list[tuple[Key, Key]]:
    by_fragments: defaultdict[tuple[Fragment, ...], deque[Key]] = defaultdict(deque)
    for key in right:
        by_fragments[key[1]].append(key)
    pairs = []
    for key in list(left):
        if alike := by_fragments.get(key[1]):
            other = alike.popleft()
            pairs.append((key, other))
            del left[key], right[other]
    return pairs


def _wholes(wholes: Keys, pieces: Keys) -> list[tuple[Key, list[Key]]]:
    """Wholes with at least two disjoint pieces of their label inside them, best covered first.

    A piece belongs to one whole only.
    """
    if len(pieces) < 2:
        return []
    offers, around = _offers(wholes, pieces)
    # An offer whose pieces have become fewer is put in again: of its entries the last one counts.
    waiting = [entry for number, offer in enumerate(offers) for entry in offer.entries(number)]
    heapify(waiting)
    found: list[tuple[Key, list[Key]]] = []
    while waiting:
        _, number, size = heappop(waiting)
        offer = offers[number]
        if offer.whole not in wholes or size != len(offer.inside):
            continue
        parts = sorted(offer.chosen, key=lambda p: p[1])
        found.append((offer.whole, parts))
        del wholes[offer.whole]
        lost: defaultdict[int, list[Key]] = defaultdict(list)
        for part in parts:
            del pieces[part]
            for other in around[part]:
                lost[other].append(part)
        for other, gone in lost.items():
            offers[other].lose(gone)
            for entry in offers[other].entries(other):
                heappush(waiting, entry)
    return found


@dataclass(slots=True)
class _Offer:
    """A whole, the pieces inside it, the larger first, and of these disjoint ones: the `chosen`.

    `covered` is how many of its characters they have.
    """

    whole: Key
    inside: Keys
    chosen: Keys = field(default_factory=dict)
    others: Keys = field(default_factory=dict)
    covered: int = 0

    def choose(self) -> None:
        """Of pieces that overlap the larger."""
        self.chosen, self.others = {}, {}
        taken: list[Fragment] = []
        for piece in self.inside:
            if _meets(taken, piece):
                self.others[piece] = None
                continue
            self.chosen[piece] = None
            for fragment in piece[1]:
                insort(taken, fragment)
        self.covered = sum(_size(piece[1]) for piece in self.chosen)

    def lose(self, pieces: Collection[Key]) -> None:
        """Go on without some of the pieces inside."""
        free = sorted(f for piece in pieces if piece in self.chosen for f in piece[1])
        for piece in pieces:
            for own in (self.inside, self.chosen, self.others):
                own.pop(piece, None)
        self.covered -= _size(free)
        if any(_meets(free, piece) for piece in self.others):
            self.choose()

    def entries(self, number: int) -> list[tuple[float, int, int]]:
        """What makes heaps give the best covered whole, of such the first; none for one piece."""
        if len(self.chosen) < 2:
            return []
        return [(-self.covered / _size(self.whole[1]), number, len(self.inside))]


def _offers(wholes: Keys, pieces: Keys) -> tuple[list[_Offer], Mapping[Key, Sequence[int]]]:
    """An offer for each whole, and the numbers of those that each piece is inside of."""
    inside: dict[Key, list[Key]] = {whole: [] for whole in wholes}
    for whole, piece in _meeting(wholes, pieces):
        is_between = whole[1][0][0] <= piece[1][0][0] and piece[1][-1][1] <= whole[1][-1][1]
        if is_between and _shared(piece[1], whole[1]) == _size(piece[1]):
            inside[whole].append(piece)
    offers: list[_Offer] = []
    around: defaultdict[Key, list[int]] = defaultdict(list)
    for number, (whole, own) in enumerate(inside.items()):
        own.sort(key=lambda p: (-_size(p[1]), p))
        offers.append(_Offer(whole, dict.fromkeys(own)))
        offers[-1].choose()
        for piece in own:
            around[piece].append(number)
    return offers, around


def _overlapping(left: Keys, right: Keys) -> list[tuple[Key, Key]]:
    """Pairs of one label that share characters, those that share most of theirs first."""
    offers = []
    for mine, other in _meeting(left, right):
        if shared := _shared(mine[1], other[1]):
            union = _size(mine[1]) + _size(other[1]) - shared
            offers.append((-shared / union, mine, other))
    pairs = []
    for _, mine, other in sorted(offers):
        if mine in left and other in right:
            pairs.append((mine, other))
            del left[mine], right[other]
    return pairs


def _meeting(left: Iterable[Key], right: Iterable[Key]) -> Iterator[tuple[Key, Key]]:
    """Pairs of one label of which neither ends before the other begins."""
    begun: defaultdict[tuple[str, bool], list[Key]] = defaultdict(list)
    # White space alone has no fragments, and meets nothing.
    keys = [(key, True) for key in left if key[1]] + [(key, False) for key in right if key[1]]
    for key, is_left in sorted(keys, key=lambda item: item[0][1]):
        label, fragments = key
        others = [o for o in begun[label, not is_left] if o[1][-1][1] > fragments[0][0]]
        begun[label, not is_left] = others
        begun[label, is_left].append(key)
        yield from ((key, other) if is_left else (other, key) for other in others)


def _meets(fragments: Sequence[Fragment], piece: Key) -> bool:
    """Whether a piece shares characters with fragments, which are in order and disjoint."""
    before = [(bisect_left(fragments, (end,)), start) for start, end in piece[1]]
    return any(at > 0 and fragments[at - 1][1] > start for at, start in before)


def _size(fragments: Sequence[Fragment]) -> int:
    return sum(end - start for start, end in fragments)


def _shared(ours: Sequence[Fragment], theirs: Sequence[Fragment]) -> int:
    """Characters that both have; the fragments of each side do not overlap."""
    return sum(max(0, min(b, d) - max(a, c)) for a, b in ours for c, d in theirs)
