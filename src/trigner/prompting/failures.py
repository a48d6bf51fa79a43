"""In which ways answers go wrong, counted: the kinds that the TriG-NER paper names, and ours.

Kinds do not exclude one another: an item can have wrong indices and also be too many or too few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from trigner.mentions import Mention
from trigner.prompting.alignment import align, pieces, spelling, spells
from trigner.prompting.parsing import Answer, Item
from trigner.prompting.subjects import Subject, label_named

Unit = Literal["answers", "items", "predictions", "discontinuous gold"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A way of going wrong: what it is counted in, and what it means."""

    unit: Unit
    meaning: str


KINDS: Mapping[str, Kind] = {
    "no answer": Kind("answers", "the server gave none"),
    "unparsable": Kind("answers", "nothing in it is a list of entities"),
    "refusal": Kind("answers", "the model or its filter refuses"),
    "truncated": Kind("answers", "it ends before its list does"),
    "echo": Kind("items", "repeats the form of the answer from the prompt"),
    "no index": Kind("items", "without an index that can be read"),
    "out of range": Kind("items", "an index is outside the sentence"),
    "wrong indices": Kind("items", "the text stands in the sentence, but not at these indices"),
    "other number": Kind("items", "not as many indices as the text has words"),
    "not in sentence": Kind("items", "the sentence has no such words in this order"),
    "duplicate": Kind("items", "an entity that was named before"),
    "foreign type": Kind("items", "no type, or none that was asked for"),
    "whole input": Kind("predictions", "wrong, and covers 90 % of the sentence or more"),
    "nothing there": Kind("predictions", "has no word in common with any gold entity"),
    "fragment": Kind("predictions", "one piece of a discontinuous gold entity"),
    "not recombined": Kind(
        "predictions", "wrong, and continuous: part of a discontinuous gold entity, or around it"
    ),
    "missed discontinuous": Kind("discontinuous gold", "not predicted"),
}
"""In the order of reports. The paper's evidence for these is anecdotal; this counts them."""

WHOLE = 0.9

_REFUSALS = (
    *("i cannot", "i can't", "i can not", "i am unable", "i'm unable", "i'm sorry", "i am sorry"),
    *("i won't", "as an ai", "i’m sorry", "i can’t", "unable to assist", "cannot assist"),
)
_REFUSED = {"content_filter", "refusal"}


@dataclass(frozen=True, slots=True)
class Failures:
    """How often each kind of `KINDS` was met, and of how many in each unit."""

    counts: Mapping[str, int]
    totals: Mapping[Unit, int]

    def as_json(self) -> dict[str, dict[str, int | str]]:
        """Kind -> count, and out of how many of which unit."""
        return {
            name: {"count": self.counts[name], "of": self.totals[kind.unit], "unit": kind.unit}
            for name, kind in KINDS.items()
        }


@dataclass(frozen=True, slots=True)
class Judged:
    """One sentence for `count_failures`: what was asked, answered and made of it.

    `text` and `finish_reason` are the raw answer's; `text` is None when the server gave none.
    """

    words: tuple[str, ...]
    gold: tuple[Mention, ...]
    text: str | None
    finish_reason: str | None
    answer: Answer
    predicted: tuple[Mention, ...]


def count_failures(judged: Iterable[Judged], subjects: Sequence[Subject]) -> Failures:
    """All kinds over all sentences, zero for those that were not met."""
    counts: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
    totals: Counter[Unit] = Counter(dict.fromkeys((kind.unit for kind in KINDS.values()), 0))
    for one in judged:
        totals["answers"] += 1
        totals["items"] += len(one.answer.items)
        totals["predictions"] += len(one.predicted)
        totals["discontinuous gold"] += sum(m.is_discontinuous for m in one.gold)
        counts.update(answer_failures(one.text, one.finish_reason, one.answer))
        before: set[tuple[object, ...]] = set()
        for item in one.answer.items:
            counts.update(_of_item(item, one.words, subjects))
            same = (item.label, align(item, one.words, "strict") or item.indices, item.text)
            counts["duplicate"] += same in before
            before.add(same)
        for mention in one.predicted:
            counts.update(_of_prediction(mention, one.gold, len(one.words)))
        counts["missed discontinuous"] += sum(
            m.is_discontinuous and m not in one.predicted for m in one.gold
        )
    return Failures(dict(counts), dict(totals))


def answer_failures(text: str | None, finish_reason: str | None, answer: Answer) -> list[str]:
    """The kinds that an answer as a whole is of; those of its flag in reports."""
    if text is None:
        return ["no answer"]
    kinds = ["unparsable"] if answer.is_unparsable else []
    start = text[:200].casefold()
    sounds_so = answer.is_unparsable and any(words in start for words in _REFUSALS)
    if finish_reason in _REFUSED or sounds_so:
        kinds.append("refusal")
    if finish_reason == "length" or answer.truncated:
        kinds.append("truncated")
    return kinds


def _of_item(item: Item, words: Sequence[str], subjects: Sequence[Subject]) -> list[str]:
    if item.is_echo:
        return ["echo"]
    kinds = []
    if label_named(item.label, subjects) is None:
        kinds.append("foreign type")
    if item.indices is None:
        kinds.append("no index")
    elif not all(0 <= index < len(words) for index in item.indices):
        kinds.append("out of range")
    if item.text is None:
        return kinds
    found = spelling(words, item.text, item.indices or ())
    if found is None:
        kinds.append("not in sentence")
    elif item.indices is not None and not spells(words, item.indices, item.text):
        kinds.append("wrong indices")
    if item.indices is not None:
        number = len(found) if found is not None else len(item.text.split())
        differs = len(set(item.indices)) != number
        if differs and not spells(words, item.indices, item.text) and pieces(item.text):
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
    apart = [m for m in gold if m.is_discontinuous]
    if any(mention.segments == (segment,) for m in apart for segment in m.segments):
        kinds.append("fragment")
    around = (chosen < set(m.words) or chosen > set(m.words) for m in apart)
    if not mention.is_discontinuous and any(around):
        kinds.append("not recombined")
    return kinds
