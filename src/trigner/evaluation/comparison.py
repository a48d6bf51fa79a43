"""Gold next to predictions, entity by entity: what was right and what kind of error the rest is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from trigner.evaluation.scores import Key, matched
from trigner.mentions import Document, Entity, Fragment

Kind = Literal["correct", "boundary", "split", "joined", "type", "missed", "spurious"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""In the order of reports."""


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


def compare(gold: Sequence[Document], predicted: Sequence[Document]) -> Comparison:
    """Every distinct entity of both sides in exactly one finding.

    Documents are matched by id as in `score`, which raises InputError for the same reasons. What
    could be of several kinds is, in this order: correct, type, split, joined, boundary.
    """
    compared = []
    for document, answer in matched(gold, predicted):
        left = _distinct(document, document)
        right = _distinct(document, answer) if answer is not None else {}
        findings = list(_findings(left, right))
        findings.sort(key=lambda f: _order((*f.gold, *f.predicted)))
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


def _order(entities: Sequence[Entity]) -> tuple[tuple[Fragment, ...], str]:
    return min((entity.fragments, entity.label) for entity in entities)


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


def _groups(left: list[Key], right: list[Key]) -> Iterator[tuple[Kind, list[Key], list[Key]]]:
    """What is not correct, grouped; takes from both lists what it has yielded."""
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


def _same_characters(left: list[Key], right: list[Key]) -> list[tuple[Key, Key]]:
    by_fragments: dict[tuple[Fragment, ...], list[Key]] = {}
    for key in right:
        by_fragments.setdefault(key[1], []).append(key)
    pairs = []
    for key in list(left):
        if by_fragments.get(key[1]):
            other = by_fragments[key[1]].pop(0)
            pairs.append((key, other))
            left.remove(key)
            right.remove(other)
    return pairs


def _wholes(wholes: list[Key], pieces: list[Key]) -> list[tuple[Key, list[Key]]]:
    """Wholes with at least two disjoint pieces of their label inside them, best covered first.

    A piece belongs to one whole only.
    """
    found: list[tuple[Key, list[Key]]] = []
    while True:
        offers = [(whole, _inside(whole, pieces)) for whole in wholes]
        offers = [offer for offer in offers if len(offer[1]) > 1]
        if not offers:
            return found
        whole, parts = max(offers, key=_covered)
        found.append((whole, parts))
        wholes.remove(whole)
        for part in parts:
            pieces.remove(part)


def _covered(offer: tuple[Key, list[Key]]) -> float:
    """Share of the whole's characters that its pieces have."""
    whole, parts = offer
    return sum(_size(part[1]) for part in parts) / _size(whole[1])


def _inside(whole: Key, pieces: Sequence[Key]) -> list[Key]:
    """Pieces of the whole's label inside its characters; of overlapping ones the larger."""
    chosen: list[Key] = []
    fitting = [p for p in pieces if p[0] == whole[0] and _shared(p[1], whole[1]) == _size(p[1]) > 0]
    for piece in sorted(fitting, key=lambda p: (-_size(p[1]), p)):
        if not any(_shared(piece[1], other[1]) for other in chosen):
            chosen.append(piece)
    return sorted(chosen, key=lambda p: p[1])


def _overlapping(left: list[Key], right: list[Key]) -> list[tuple[Key, Key]]:
    """Pairs of one label that share characters, those that share most of theirs first."""
    offers = []
    for mine in left:
        for other in right:
            shared = _shared(mine[1], other[1]) if mine[0] == other[0] else 0
            if shared:
                union = _size(mine[1]) + _size(other[1]) - shared
                offers.append((-shared / union, mine, other))
    pairs = []
    for _, mine, other in sorted(offers):
        if mine in left and other in right:
            pairs.append((mine, other))
            left.remove(mine)
            right.remove(other)
    return pairs


def _size(fragments: Sequence[Fragment]) -> int:
    return sum(end - start for start, end in fragments)


def _shared(ours: Sequence[Fragment], theirs: Sequence[Fragment]) -> int:
    """Characters that both have; the fragments of each side do not overlap."""
    return sum(max(0, min(b, d) - max(a, c)) for a, b in ours for c, d in theirs)
