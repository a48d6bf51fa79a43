"""Predicted entities against gold ones, in the slices that the literature reports."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trigner.errors import InputError
from trigner.evaluation.calibration import calibration_error, predictions_of
from trigner.evaluation.calibration import together as all_labels
from trigner.evaluation.counts import Score, count
from trigner.evaluation.matching import matched
from trigner.mentions import Document, Fragment
from trigner.text import Segmentation, segment, sentence_at

Key = tuple[str, tuple[Fragment, ...]]
"""What `Document.key` makes of an entity: label and merged fragments."""


@dataclass(frozen=True, slots=True)
class Slices:
    """The same mentions looked at in five ways.

    `discontinuous` and `continuous` filter gold by what gold is and predictions by what they
    are, over all sentences. `sentences_with_discontinuous` takes all mentions of sentences with
    at least one discontinuous gold mention, `sentences_without_discontinuous` those of sentences
    that have gold, none of it discontinuous. Sentences without gold belong to neither: false
    positives there count in `overall` and in the slice of their own kind.
    """

    overall: Score
    discontinuous: Score
    continuous: Score
    sentences_with_discontinuous: Score
    sentences_without_discontinuous: Score

    def items(self) -> tuple[tuple[str, Score], ...]:
        """Each slice's name and score, in the order of reports."""
        return tuple((name, getattr(self, name)) for name in Slices.__slots__)

    def as_json(self) -> dict[str, Any]:
        """Slice name -> `Score.as_json()`."""
        return {name: score.as_json() for name, score in self.items()}


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of predictions against gold.

    `slices` are over all labels, `per_type` over the mentions of one label each; whether a
    sentence has discontinuous gold is a matter of all its gold, so the counts of the labels add
    up to those over all labels. `unreachable_reasons` says why gold is beyond any system that
    works within sentences on whole words (reason -> distinct gold mentions; they all count as
    missed), `unreachable_by` what the caller gave in addition. `missing` are the gold documents
    without a predicted document: all their gold counts as missed. `left_out` are annotations
    that could not be trusted and count nowhere. `bounded` are sentences where prediction hit
    a bound of decoding (None: not known). `calibration_error` says how far the scores of
    predictions are from the share of them that is right (None: there are none, or one has no
    score).
    """

    slices: Slices
    per_type: Mapping[str, Slices]
    unreachable_reasons: Mapping[str, int] = field(default_factory=dict)
    unreachable_by: Mapping[str, int] | None = None
    missing: tuple[str, ...] = ()
    left_out: int = 0
    bounded: int | None = None
    signature: str = ""
    calibration_error: float | None = None

    @property
    def overall(self) -> Score:
        """All mentions."""
        return self.slices.overall

    @property
    def discontinuous(self) -> Score:
        """Discontinuous mentions only."""
        return self.slices.discontinuous

    @property
    def sentences_with_discontinuous(self) -> Score:
        """All mentions of sentences with discontinuous gold."""
        return self.slices.sentences_with_discontinuous

    @property
    def unreachable(self) -> int:
        """Gold mentions that sentence splitting or word alignment puts out of reach."""
        return sum(self.unreachable_reasons.values())

    def as_json(self) -> dict[str, Any]:
        """What `--json` prints.

        `unreachable_by`, `bounded` and `calibration_error` where known, `missing` where there are
        any.
        """
        value: dict[str, Any] = {
            **self.slices.as_json(),
            "per_type": {label: slices.as_json() for label, slices in self.per_type.items()},
            "unreachable": self.unreachable,
            "unreachable_reasons": dict(self.unreachable_reasons),
            "left_out": self.left_out,
        }
        if self.missing:
            value["missing"] = list(self.missing)
        if self.unreachable_by is not None:
            value["unreachable_by"] = dict(self.unreachable_by)
        if self.bounded is not None:
            value["bounded"] = self.bounded
        if self.calibration_error is not None:
            value["calibration_error"] = round(self.calibration_error, 4)
        return {**value, "signature": self.signature}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Mentions of a whole comparison, as (document, sentence, key); gold and predicted.

    `sentences` is how many sentences each document has, with mentions or without.
    """

    gold: set[tuple[int, int, Key]] = field(default_factory=set)
    predicted: set[tuple[int, int, Key]] = field(default_factory=set)
    sentences: list[int] = field(default_factory=list)

    def where(self, keep: Callable[[tuple[int, int, Key]], bool]) -> Pairs:
        """The mentions of both sides for which `keep` holds."""
        return Pairs(set(filter(keep, self.gold)), set(filter(keep, self.predicted)))


def score(
    gold: Iterable[Document],
    predicted: Iterable[Document],
    *,
    signature: str = "",
    unreachable_by: Mapping[str, int] | None = None,
    left_out: int = 0,
    bounded: int | None = None,
) -> Scores:
    """Exact match of label and merged fragments, duplicates counted once.

    Documents are matched by id. A gold document without a predicted one has all its gold missed
    and is named in `Scores.missing`. Sentences are those of the core splitter (a document with
    given words is one sentence); a mention belongs to the sentence of its first character.
    Raises InputError when an id occurs twice on one side, when a predicted document is not in
    gold, and when its text is not the gold document's.
    """
    together = matched(gold, predicted)
    segmentations = [segment(document) for document, _ in together]
    pairs = paired(together, segmentations)
    reasons: Counter[str] = Counter()
    for (document, _), segmentation in zip(together, segmentations, strict=True):
        # Distinct gold mentions, by their keys.
        lost = {document.key(u.entity): u.reason for u in segmentation.unreachable}
        reasons.update(lost.values())
    kinds = sentence_kinds(pairs)
    by_label = sorted(_by_label(pairs).items())
    return Scores(
        slices=_slices(pairs, kinds),
        per_type={label: _slices(own, kinds) for label, own in by_label},
        unreachable_reasons=dict(sorted(reasons.items())),
        unreachable_by=unreachable_by,
        missing=tuple(document.id for document, answer in together if answer is None),
        left_out=left_out,
        bounded=bounded,
        signature=signature,
        calibration_error=_calibration_error(together),
    )


def _calibration_error(together: Sequence[tuple[Document, Document | None]]) -> float | None:
    found = [e.score for _, answer in together if answer is not None for e in answer.entities]
    if not found or None in found:
        return None
    return calibration_error(all_labels(predictions_of(together).values()))


def paired(
    together: Sequence[tuple[Document, Document | None]], segmentations: Sequence[Segmentation]
) -> Pairs:
    """The mentions of matched documents, each in the sentence of its first character."""
    pairs = Pairs()
    parts = zip(together, segmentations, strict=True)
    for number, ((document, answer), segmentation) in enumerate(parts):
        starts = [sentence.offsets[0][0] for sentence in segmentation.sentences]
        pairs.sentences.append(max(1, len(starts)))
        # Keys of both sides are made by the gold document: the texts are equal, and where its
        # words are given they decide which fragments touch.
        for source, found in ((document, pairs.gold), (answer, pairs.predicted)):
            for key in () if source is None else map(document.key, source.entities):
                first = key[1][0][0] if key[1] else 0  # white space alone has no fragments
                found.add((number, sentence_at(starts, first), key))
    return pairs


def unknown_labels(documents: Iterable[Document], known: Collection[str]) -> dict[str, int]:
    """Labels that `known` lacks and how many entities carry each.

    Raises InputError for a string as `known`.
    """
    if isinstance(known, str):
        raise InputError(f"labels are a list of names, not one string: {known!r}")
    found = Counter(e.label for d in documents for e in d.entities if e.label not in known)
    return dict(sorted(found.items()))


def is_discontinuous(key: Key) -> bool:
    """Whether a key's fragments have something between them."""
    return len(key[1]) > 1


def _by_label(pairs: Pairs) -> dict[str, Pairs]:
    found: defaultdict[str, Pairs] = defaultdict(Pairs)
    for mention in pairs.gold:
        found[mention[2][0]].gold.add(mention)
    for mention in pairs.predicted:
        found[mention[2][0]].predicted.add(mention)
    return found


Sentences = set[tuple[int, int]]
"""Sentences as (document, sentence)."""


def sentence_kinds(whole: Pairs) -> tuple[Sentences, Sentences]:
    """The sentences with discontinuous gold, and those with gold of which none is."""
    with_discontinuous = {(d, s) for d, s, key in whole.gold if is_discontinuous(key)}
    return with_discontinuous, {(d, s) for d, s, _ in whole.gold} - with_discontinuous


def by_slice(pairs: Pairs, kinds: tuple[Sentences, Sentences]) -> dict[str, Pairs]:
    """The mentions of each of the `Slices`; `kinds` are those of the sentences of all labels."""
    with_discontinuous, without = kinds
    return {
        "overall": pairs,
        "discontinuous": pairs.where(lambda m: is_discontinuous(m[2])),
        "continuous": pairs.where(lambda m: not is_discontinuous(m[2])),
        "sentences_with_discontinuous": pairs.where(lambda m: m[:2] in with_discontinuous),
        "sentences_without_discontinuous": pairs.where(lambda m: m[:2] in without),
    }


def _slices(pairs: Pairs, kinds: tuple[Sentences, Sentences]) -> Slices:
    slices = by_slice(pairs, kinds)
    return Slices(**{name: count(own.gold, own.predicted) for name, own in slices.items()})
