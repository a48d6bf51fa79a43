"""The best scores that a system's format allows on this gold: encoded and decoded again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trigner.evaluation.counts import Score, count
from trigner.evaluation.scores import Key, is_discontinuous
from trigner.mentions import Document, Entity, Mention
from trigner.text import Segmentation, entity_of, segment

FORMAT = "the system's format cannot represent them"
UNKNOWN = "the system does not know their type"


RoundTrip = Callable[[Sequence[Mention], int], tuple[Collection[Mention], bool]]
"""Mentions of a sentence and its number of words, to what a system's format gives back of them, and
whether decoding was complete."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A gold entity of a document that did not come back, and why."""

    document: Document
    entity: Entity
    reason: str

    def as_json(self) -> dict[str, Any]:
        """What `--json` prints of it."""
        return {
            "document": self.document.id,
            "label": self.entity.label,
            "text": self.entity.text,
            "fragments": [list(fragment) for fragment in self.entity.fragments],
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Gold that went through segmentation and a system's format and back, against all gold.

    `lost_entities` are the distinct gold entities that did not come back, in order; their reasons
    are those of the segmentation, `FORMAT` or `UNKNOWN`. `incomplete` counts the sentences of which
    the decoder's bound cut some off.
    """

    overall: Score
    discontinuous: Score
    lost_entities: tuple[Lost, ...]
    incomplete: int

    @property
    def lost(self) -> int:
        """Gold mentions that did not come back."""
        return self.overall.gold - self.overall.correct

    @property
    def lost_by(self) -> Mapping[str, int]:
        """How many got lost for each reason."""
        return dict(sorted(Counter(lost.reason for lost in self.lost_entities).items()))

    @property
    def lost_by_format(self) -> int:
        """Gold mentions that reached the format and did not come back."""
        return self.lost_by.get(FORMAT, 0)

    @property
    def spurious(self) -> int:
        """Mentions that came back without being gold."""
        return self.overall.predicted - self.overall.correct

    def as_json(self) -> dict[str, Any]:
        """What `--json` prints of one system."""
        return {
            "overall": self.overall.as_json(),
            "discontinuous": self.discontinuous.as_json(),
            "lost": self.lost,
            "lost_by": dict(self.lost_by),
            "lost_by_format": self.lost_by_format,
            "spurious": self.spurious,
            "incomplete": self.incomplete,
        }


def ceiling(
    documents: Iterable[Document], round_trip: RoundTrip, *, labels: Collection[str] | None = None
) -> Ceiling:
    """Encode and decode the gold of `documents`, and score what comes back against all of it.

    With `labels` the format gets mentions of these types only, and the others are lost as
    `UNKNOWN`. Raises ValueError for a type that the format gets and does not know.
    """
    return ceilings(documents, {"": round_trip}, labels=labels)[""]


def ceilings(
    documents: Iterable[Document],
    round_trips: Mapping[str, RoundTrip],
    *,
    labels: Collection[str] | None = None,
) -> dict[str, Ceiling]:
    """The `ceiling` of each format, in one pass over the documents."""
    collected = {name: _RoundTrips() for name in round_trips}
    everything: set[tuple[int, Key]] = set()
    for number, document in enumerate(documents):
        segmentation = segment(document)
        gold: dict[Key, Entity] = {}
        for entity in document.entities:
            gold.setdefault(document.key(entity), entity)
        everything |= {(number, key) for key in gold}
        reasons = {document.key(u.entity): u.reason for u in segmentation.unreachable}
        for name, round_trip in round_trips.items():
            own = collected[name]
            found, incomplete = _back(document, segmentation, round_trip, labels)
            own.incomplete += incomplete
            own.back |= {(number, key) for key in found}
            for key, entity in gold.items():
                if key not in found:
                    known = labels is None or key[0] in labels
                    reason = reasons.get(key, FORMAT if known else UNKNOWN)
                    own.lost.append(Lost(document, entity, reason))
    return {name: own.ceiling(everything) for name, own in collected.items()}


@dataclass
class _RoundTrips:
    """What one format has met so far."""

    back: set[tuple[int, Key]] = field(default_factory=set)
    lost: list[Lost] = field(default_factory=list)
    incomplete: int = 0

    def ceiling(self, gold: set[tuple[int, Key]]) -> Ceiling:
        return Ceiling(
            overall=count(gold, self.back),
            discontinuous=count(_discontinuous(gold), _discontinuous(self.back)),
            lost_entities=tuple(self.lost),
            incomplete=self.incomplete,
        )


def _back(
    document: Document,
    segmentation: Segmentation,
    round_trip: RoundTrip,
    labels: Collection[str] | None,
) -> tuple[set[Key], int]:
    """Keys that come back, and in how many sentences the decoder's bound was hit."""
    found: set[Key] = set()
    incomplete = 0
    for sentence in segmentation.sentences:
        mentions = [m for m in sentence.mentions if labels is None or m.label in labels]
        back, complete = round_trip(mentions, len(sentence.words))
        incomplete += not complete
        found |= {document.key(entity_of(document, sentence, mention)) for mention in back}
    return found, incomplete


def _discontinuous(mentions: set[tuple[int, Key]]) -> set[tuple[int, Key]]:
    return {mention for mention in mentions if is_discontinuous(mention[1])}
