"""What a scheme could reach at best on this gold, were every tag right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trigner.evaluation.counts import Score, count
from trigner.evaluation.scores import Key
from trigner.mentions import Document
from trigner.text import Segmentation, entity_of, segment

if TYPE_CHECKING:
    from trigner.schemes import Scheme

SCHEME = "the scheme cannot represent them"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """Gold that went through segmentation and a scheme and back, against all gold.

    `lost_by` says where gold mentions got lost: a reason of the segmentation or `SCHEME`, with
    the number of distinct mentions. `spurious` are mentions that came back without being
    gold, `incomplete` the sentences of which the decoder's bound cut some off.
    """

    overall: Score
    discontinuous: Score
    lost_by: Mapping[str, int]
    incomplete: int

    @property
    def lost(self) -> int:
        """Gold mentions that did not come back."""
        return self.overall.gold - self.overall.correct

    @property
    def lost_by_scheme(self) -> int:
        """Gold mentions that reached the scheme and did not come back."""
        return self.lost_by.get(SCHEME, 0)

    @property
    def spurious(self) -> int:
        """Mentions that came back without being gold."""
        return self.overall.predicted - self.overall.correct

    def as_json(self) -> dict[str, Any]:
        """What `--json` prints of one scheme."""
        return {
            "overall": self.overall.as_json(),
            "discontinuous": self.discontinuous.as_json(),
            "lost": self.lost,
        }


def ceiling(documents: Iterable[Document], scheme: Scheme) -> Ceiling:
    """Encode and decode the gold of `documents`, and score what comes back against all of it.

    Raises ValueError for a label that the scheme does not know.
    """
    gold: set[tuple[int, Key]] = set()
    back: set[tuple[int, Key]] = set()
    lost_by: Counter[str] = Counter()
    incomplete = 0
    for number, document in enumerate(documents):
        segmentation = segment(document)
        keys = {document.key(entity) for entity in document.entities}
        found, cut = _round_trip(document, segmentation, scheme)
        reasons = {document.key(u.entity): u.reason for u in segmentation.unreachable}
        lost_by.update(reasons.get(key, SCHEME) for key in keys - found)
        incomplete += cut
        gold |= {(number, key) for key in keys}
        back |= {(number, key) for key in found}
    return Ceiling(
        overall=count(gold, back),
        discontinuous=count(_discontinuous(gold), _discontinuous(back)),
        lost_by=dict(sorted(lost_by.items())),
        incomplete=incomplete,
    )


def _round_trip(
    document: Document, segmentation: Segmentation, scheme: Scheme
) -> tuple[set[Key], int]:
    """Keys that come back, and in how many sentences the decoder's bound was hit."""
    found: set[Key] = set()
    cut = 0
    for sentence in segmentation.sentences:
        encoding = scheme.encode(sentence.mentions, len(sentence.words))
        decoding = scheme.decode_tags(encoding.tags)
        cut += not decoding.complete
        found |= {
            document.key(entity_of(document, sentence, scored.mention))
            for scored in decoding.mentions
        }
    return found, cut


def _discontinuous(mentions: set[tuple[int, Key]]) -> set[tuple[int, Key]]:
    return {mention for mention in mentions if len(mention[1][1]) > 1}
