from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from random_documents import documents
from trigner.evaluation import sentence_counts
from trigner.evaluation.scores import score
from trigner.evaluation.sentence_counts import SLICES
from trigner.mentions import Document, Entity

TEXT = "Pain in my left and right arm. Nothing else. I slept badly."
LEFT = Entity("ADR", ((0, 15), (26, 29)), "")
RIGHT = Entity("ADR", ((0, 10), (20, 29)), "")
SLEPT = Entity("ADR", ((47, 58),), "")
NOTHING = Entity("ADR", ((31, 38),), "")


def test_sentences_of_a_document():
    gold = [Document("a", TEXT, (LEFT, RIGHT, SLEPT)), Document("b", "No trouble.")]
    found = [Document("a", TEXT, (LEFT, NOTHING))]
    counts = sentence_counts(gold, found)
    assert counts.sentences == 4
    assert counts.slices["overall"].tolist() == [[1, 1, 2], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert counts.slices["discontinuous"].tolist() == [[1, 1, 2], [0] * 3, [0] * 3, [0] * 3]
    within = counts.slices["sentences_with_discontinuous"].tolist()
    assert within == [[1, 1, 2], [0] * 3, [0] * 3, [0] * 3]


def test_a_document_without_words_has_one_sentence():
    gold = [Document("e", " "), Document("a", TEXT, (LEFT,))]
    assert sentence_counts(gold, gold).slices["overall"].tolist() == [
        [0] * 3,
        [1] * 3,
        *[[0] * 3] * 2,
    ]


@given(documents(), st.data())
def test_sums_are_the_scores(gold, data):
    kept = [
        Document(d.id, d.text, tuple(e for e in d.entities if data.draw(st.booleans())), d.words)
        for d in gold
    ]
    counts = sentence_counts(gold, kept).slices
    slices = dict(score(gold, kept).slices.items())
    for name in SLICES:
        found = slices[name]
        assert counts[name].sum(axis=0).tolist() == [found.correct, found.predicted, found.gold]
