"""Counts in which ways answers go wrong: the kinds that the TriG-NER paper names, and more.

The kinds overlap: an item can have wrong indices and also the wrong number of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from trigner.lab.prompting.alignment import align, find_text, matches_text, tokens
from trigner.lab.prompting.client import Completion
from trigner.lab.prompting.entity_types import EntityType, label_named
from trigner.lab.prompting.parsing import Item, ParsedAnswer
from trigner.mentions import Mention

Unit = Literal["answers", "items", "predictions", "discontinuous gold"]


@dataclass(frozen=True, slots=True)
class FailureKind:
    """A way in which answers go wrong: the unit that it is counted in, and what it means."""

    unit: Unit
    meaning: str


FAILURE_KINDS: Mapping[str, FailureKind] = {
    "no answer": FailureKind("answers", "the server gave no answer"),
    "unparsable": FailureKind("answers", "contains no list of entities"),
    "refusal": FailureKind("answers", "the model or its content filter refused"),
    "truncated": FailureKind("answers", "cut off before the end of its list"),
    "echo": FailureKind("items", "repeats the answer format of the prompt"),
    "no index": FailureKind("items", "has no readable index"),
    "out of range": FailureKind("items", "has an index outside the sentence"),
    "wrong indices": FailureKind("items", "its text is in the sentence, but not at these indices"),
    "other number": FailureKind("items", "has more or fewer indices than its text has words"),
    "not in sentence": FailureKind("items", "the sentence does not have its words in this order"),
    "duplicate": FailureKind("items", "repeats an earlier entity"),
    "foreign type": FailureKind("items", "has no type, or one that was not asked for"),
    "whole input": FailureKind("predictions", "wrong, and covers at least 90 % of the sentence"),
    "nothing there": FailureKind("predictions", "shares no word with any gold entity"),
    "fragment": FailureKind("predictions", "one segment of a discontinuous gold entity"),
    "not recombined": FailureKind(
        "predictions", "wrong and continuous: part of a discontinuous gold entity, or containing it"
    ),
    "missed discontinuous": FailureKind("discontinuous gold", "not predicted"),
}
"""In the order of the reports. The paper gives examples of them, no counts."""

WHOLE = 0.9

_REFUSALS = (
    *("i cannot", "i can't", "i can not", "i am unable", "i'm unable", "i'm sorry", "i am sorry"),
    *("i won't", "as an ai", "i’m sorry", "i can’t", "unable to assist", "cannot assist"),
)
_REFUSED = {"content_filter", "refusal"}


@dataclass(frozen=True, slots=True)
class FailureCounts:
    """How often each kind of `FAILURE_KINDS` occurred, and the total of each unit."""

    counts: Mapping[str, int]
    totals: Mapping[Unit, int]

    def as_json(self) -> dict[str, dict[str, int | str]]:
        """Kind -> count, and out of how many of which unit."""
        return {
            name: {"count": self.counts[name], "of": self.totals[kind.unit], "unit": kind.unit}
            for name, kind in FAILURE_KINDS.items()
        }


@dataclass(frozen=True, slots=True)
class SentenceResult:
    """One sentence: its gold, the completion (None: there is none), what was read, predictions."""

    words: tuple[str, ...]
    gold: tuple[Mention, ...]
    completion: Completion | None
    answer: ParsedAnswer
    predicted: tuple[Mention, ...]

    @property
    def flags(self) -> list[str]:
        """The kinds of failure of the answer as a whole."""
        if self.completion is None:
            return ["no answer"]
        kinds = ["unparsable"] if self.answer.is_unparsable else []
        start = self.completion.text[:200].casefold()
        sounds_so = self.answer.is_unparsable and any(words in start for words in _REFUSALS)
        if self.completion.finish_reason in _REFUSED or sounds_so:
            kinds.append("refusal")
        if self.completion.finish_reason == "length" or self.answer.truncated:
            kinds.append("truncated")
        return kinds


def count_failures(
    sentences: Iterable[SentenceResult], entity_types: Sequence[EntityType]
) -> FailureCounts:
    """The count of every kind over all sentences, zero included."""
    counts: Counter[str] = Counter(dict.fromkeys(FAILURE_KINDS, 0))
    totals: Counter[Unit] = Counter(dict.fromkeys((k.unit for k in FAILURE_KINDS.values()), 0))
    for one in sentences:
        totals["answers"] += 1
        totals["items"] += len(one.answer.items)
        totals["predictions"] += len(one.predicted)
        totals["discontinuous gold"] += sum(m.is_discontinuous for m in one.gold)
        counts.update(one.flags)
        seen: set[tuple[object, ...]] = set()
        for item in one.answer.items:
            counts.update(_of_item(item, one.words, entity_types))
            same = (item.label, align(item, one.words, "strict") or item.indices, item.text)
            counts["duplicate"] += same in seen
            seen.add(same)
        for mention in one.predicted:
            counts.update(_of_prediction(mention, one.gold, len(one.words)))
        counts["missed discontinuous"] += sum(
            m.is_discontinuous and m not in one.predicted for m in one.gold
        )
    return FailureCounts(dict(counts), dict(totals))


def _of_item(item: Item, words: Sequence[str], entity_types: Sequence[EntityType]) -> list[str]:
    if item.is_echo:
        return ["echo"]
    kinds = []
    if label_named(item.label, entity_types) is None:
        kinds.append("foreign type")
    if item.indices is None:
        kinds.append("no index")
    elif not all(0 <= index < len(words) for index in item.indices):
        kinds.append("out of range")
    if item.text is None:
        return kinds
    found = find_text(words, item.text, item.indices or ())
    if found is None:
        kinds.append("not in sentence")
    elif item.indices is not None and not matches_text(words, item.indices, item.text):
        kinds.append("wrong indices")
    if item.indices is not None:
        number = len(found) if found is not None else len(item.text.split())
        differs = len(set(item.indices)) != number
        if differs and not matches_text(words, item.indices, item.text) and tokens(item.text):
            kinds.append("other number")
    return kinds


def _of_prediction(mention: Mention, gold: Sequence[Mention], length: int) -> list[str]:
    if mention in gold:
        return []
    kinds = []
    if mention.words[-1] - mention.words[0] + 1 >= WHOLE * length:
        kinds.append("whole input")
    chosen = set(mention.words)
    if not any(chosen & set(m.words) for m in gold):
        kinds.append("nothing there")
    discontinuous = [m for m in gold if m.is_discontinuous]
    if any(mention.segments == (segment,) for m in discontinuous for segment in m.segments):
        kinds.append("fragment")
    around = (chosen < set(m.words) or chosen > set(m.words) for m in discontinuous)
    if not mention.is_discontinuous and any(around):
        kinds.append("not recombined")
    return kinds
