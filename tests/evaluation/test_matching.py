"""Gold documents and those that answer them, for everything that compares the two."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trigner.evaluation import sentence_counts
from trigner.evaluation.comparison import compare
from trigner.evaluation.relaxed import relaxed_scores
from trigner.evaluation.scores import score
from trigner.evaluation.thresholds import curves
from trigner.mentions import Document, Entity

TEXT = "Pain and weakness in my arms and lower legs. I slept badly. The nausea went away."


def document(name: str, *entities: Entity) -> Document:
    return Document(name, TEXT, entities)


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        ([document("a")], [document("b")]),
        ([document("a")], [document("a:1")]),
        ([document("a-7")], [document("b-7")]),
        ([document("a-7")], [document("b-8")]),
        ([document("a-x")], [document("b-x")]),
        ([document("a-7")], [Document("b-7", "Paint")]),
        ([document("a")], [Document("a", TEXT + " ")]),
        ([document("a")], [Document("a", "Paint")]),
        ([document("a"), document("a")], []),
        ([document("a")], [document("a")] * 2),
    ],
)
def test_documents_that_do_not_match_are_refused(
    gold: list[Document], predicted: list[Document], refused
) -> None:
    for compared in (score, curves, relaxed_scores, compare, sentence_counts):
        for kind in (list, iter):
            with refused():
                compared(kind(gold), kind(predicted))


def test_documents_may_come_from_iterators() -> None:
    gold = [document("a", Entity("ADR", ((0, 4),), "Pain")), document("b")]
    found = [document("a", Entity("ADR", ((0, 4),), "Pain", 0.5))]
    for compared in (score, curves, relaxed_scores, compare, sentence_counts):
        one, other = compared(iter(gold), iter(found)), compared(gold, found)
        assert repr(one) == repr(other)
    assert score(iter(gold), iter(found)).calibration_error == 0.5


def test_given_words_of_gold_decide_what_is_one_fragment_for_both_sides() -> None:
    """A word of white space stands between "a" and "b", also where predictions lack the words."""
    words = ((0, 1), (2, 3), (4, 5))
    apart, whole = (Entity("ADR", own, "") for own in (((0, 1), (4, 5)), ((0, 5),)))
    gold = [Document("a", "a \u00a0 b", (apart,), words)]
    for entity, right in ((apart, 1), (whole, 0)):
        found = [Document("a", gold[0].text, (replace(entity, score=0.5),))]
        assert score(gold, found).overall.correct == right
        assert score(gold, found).calibration_error == 0.5
        assert curves(gold, found)["ADR"].points[0][1].correct == right
        assert relaxed_scores(gold, found)["strict"].precision == right
        assert compare(gold, found).counts()["correct"].gold == right
        assert sentence_counts(gold, found).slices["overall"].tolist() == [[right, 1, 1]]
