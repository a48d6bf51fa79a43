from __future__ import annotations

import pytest

from trigner.lab.prompting.client import Completion
from trigner.lab.prompting.entity_types import ENTITY_TYPES
from trigner.lab.prompting.failures import FAILURE_KINDS, SentenceResult, count_failures
from trigner.lab.prompting.parsing import Item, ParsedAnswer
from trigner.mentions import Mention

TEXT = "I have pain and cramping in my hands and lower legs ."
WORDS = tuple(TEXT.split())
# pain in my hands; pain in my lower legs
GOLD = (Mention((2, 5, 6, 7), "ADR"), Mention((2, 5, 6, 9, 10), "ADR"))
ADR = ENTITY_TYPES["cadec"]


def found(items=(), predicted=(), *, gold=(), text="", reason="stop", answer=None):
    """The kinds met, with their numbers."""
    if answer is None:
        answer = ParsedAnswer(tuple(items), found_in="list", syntax="JSON")
    mentions = tuple(Mention(words, "ADR") for words in predicted)
    completion = None if text is None else Completion(text, reason, None, None, None, 1, 0.0)
    one = SentenceResult(WORDS, tuple(gold), completion, answer, mentions)
    counts = count_failures([one], ADR).counts
    assert set(counts) == set(FAILURE_KINDS)
    return {name: number for name, number in counts.items() if number}


@pytest.mark.parametrize(
    ("item", "kinds"),
    [
        (Item((2,), "pain", "ADR"), []),
        (Item((2,), "pain", "adr"), []),
        (Item((2,), None, "ADR"), []),
        (Item((3,), "pain", "ADR"), ["wrong indices"]),
        (Item((2, 7), "pain in my hands", "ADR"), ["wrong indices", "other number"]),
        (Item((2, 3), "pain in", "ADR"), ["wrong indices"]),
        (Item((2,), "rash", "ADR"), ["not in sentence"]),
        (Item((2,), "bad rash", "ADR"), ["not in sentence", "other number"]),
        (Item((12,), "legs", "ADR"), ["out of range", "wrong indices"]),
        (Item((-1,), None, "ADR"), ["out of range"]),
        (Item(None, "legs", "ADR"), ["no index"]),
        (Item((2,), "pain", None), ["foreign type"]),
        (Item((2,), "pain", "Drug"), ["foreign type"]),
        (Item(None, "words of the entity", "ADR", is_echo=True), ["echo"]),
    ],
)
def test_kinds_of_items(item, kinds):
    assert found([item]) == dict.fromkeys(kinds, 1)


def test_duplicates():
    again = [Item((2, 7), None, "ADR"), Item((7, 2, 2), None, "ADR"), Item((2, 7), None, "X")]
    assert found(again) == {"duplicate": 1, "foreign type": 1}


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (GOLD[0].words, []),
        ((2,), ["fragment", "not recombined"]),
        ((5, 6, 7), ["fragment", "not recombined"]),
        ((9, 10), ["fragment", "not recombined"]),
        ((5, 6), ["fragment", "not recombined"]),  # a piece of the other
        ((10,), ["not recombined"]),
        ((2, 3, 4, 5, 6, 7), ["not recombined"]),
        ((2, 9), []),
        ((4, 5), []),
        ((0, 1), ["nothing there"]),
        (tuple(range(11)), ["whole input", "not recombined"]),
        ((0, 11), ["whole input", "nothing there"]),
    ],
)
def test_kinds_of_predictions(words, kinds):
    missed = 1 if words == GOLD[0].words else 2
    expected = {**dict.fromkeys(kinds, 1), "missed discontinuous": missed}
    assert found(predicted=[words], gold=GOLD) == expected


def test_a_right_prediction_is_no_failure_whatever_it_looks_like():
    gold = (*GOLD, Mention((2,), "ADR"), Mention(tuple(range(12)), "ADR"))
    predicted = [m.words for m in gold]
    assert found(predicted=predicted, gold=gold) == {}


@pytest.mark.parametrize(
    ("text", "reason", "answer", "kinds"),
    [
        (None, None, ParsedAnswer(), ["no answer"]),
        ("There is some pain.", "stop", ParsedAnswer(), ["unparsable"]),
        (
            "I'm sorry, but I can't help with that.",
            "stop",
            ParsedAnswer(),
            ["unparsable", "refusal"],
        ),
        ("No.", "refusal", ParsedAnswer(), ["unparsable", "refusal"]),
        ("", "content_filter", ParsedAnswer(), ["unparsable", "refusal"]),
        ("I'm sorry it hurts: []", "stop", ParsedAnswer(found_in="list"), []),
        ("[{", "length", ParsedAnswer(), ["unparsable", "truncated"]),
        ("[{}, {", "stop", ParsedAnswer(found_in="list", truncated=True), ["truncated"]),
    ],
)
def test_kinds_of_answers(text, reason, answer, kinds):
    assert found(text=text, reason=reason, answer=answer) == dict.fromkeys(kinds, 1)


def test_totals_and_json():
    item = Item((3,), "pain", "ADR")
    answer = ParsedAnswer((item, item), "list", "JSON")
    judged = SentenceResult(WORDS, GOLD, None, answer, (Mention((3,), "ADR"),))
    failures = count_failures([judged, judged], ADR)
    assert failures.totals == {
        "answers": 2,
        "items": 4,
        "predictions": 2,
        "discontinuous gold": 4,
    }
    told = failures.as_json()
    assert list(told) == list(FAILURE_KINDS)
    assert told["wrong indices"] == {"count": 4, "of": 4, "unit": "items"}
    assert told["missed discontinuous"] == {"count": 4, "of": 4, "unit": "discontinuous gold"}
