from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.comparison_naive import naive_groups
from random_documents import documents, entities
from trigner.evaluation.comparison import KINDS, Count, _clusters, _groups, compare
from trigner.evaluation.scores import score
from trigner.mentions import Document, Entity

TEXT = "pain and severe cramping in my hands and lower legs , rash"


def entity(*pieces, label="ADR", score=None):
    fragments, after = [], 0
    for piece in pieces:
        start = TEXT.index(piece, after)
        after = start + len(piece)
        fragments.append((start, after))
    return Entity(label, tuple(fragments), " ".join(pieces), score)


def kinds(gold, predicted):
    """The findings as (kind, gold surfaces, predicted surfaces)."""
    comparison = compare(
        [Document("d", TEXT, tuple(gold))], [Document("d", TEXT, tuple(predicted))]
    )
    return [
        (f.kind, [e.text for e in f.gold], [e.text for e in f.predicted])
        for f in comparison.documents[0].findings
    ]


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        ([entity("rash")], [entity("rash")], [("correct", ["rash"], ["rash"])]),
        ([entity("rash")], [], [("missed", ["rash"], [])]),
        ([], [entity("rash")], [("spurious", [], ["rash"])]),
        ([entity("rash")], [entity("rash", label="Drug")], [("type", ["rash"], ["rash"])]),
        (
            [entity("severe cramping")],
            [entity("cramping")],
            [("boundary", ["severe cramping"], ["cramping"])],
        ),
        (
            [entity("pain", "in my hands")],
            [entity("pain"), entity("in my hands")],
            [("split", ["pain in my hands"], ["pain", "in my hands"])],
        ),
        (
            [entity("pain"), entity("severe cramping")],
            [entity("pain and severe cramping")],
            [("joined", ["pain", "severe cramping"], ["pain and severe cramping"])],
        ),
        # A piece that stands outside is no piece.
        (
            [entity("pain", "hands")],
            [entity("pain"), entity("my hands")],
            [
                ("boundary", ["pain hands"], ["pain"]),
                ("spurious", [], ["my hands"]),
            ],
        ),
        # Pieces of another type are none.
        (
            [entity("pain", "hands")],
            [entity("pain", label="Drug"), entity("hands", label="Drug")],
            [
                ("spurious", [], ["pain"]),
                ("missed", ["pain hands"], []),
                ("spurious", [], ["hands"]),
            ],
        ),
        # Overlap of different types is no boundary.
        (
            [entity("severe cramping")],
            [entity("cramping", label="Drug")],
            [("missed", ["severe cramping"], []), ("spurious", [], ["cramping"])],
        ),
        # Extents that cross without a character in common.
        (
            [entity("pain", "hands")],
            [entity("severe cramping")],
            [("missed", ["pain hands"], []), ("spurious", [], ["severe cramping"])],
        ),
        # What is right is taken out first: the piece belongs to it, not to the split.
        (
            [entity("pain"), entity("pain", "hands")],
            [entity("pain"), entity("hands")],
            [("correct", ["pain"], ["pain"]), ("boundary", ["pain hands"], ["hands"])],
        ),
        # One prediction for two gold entities goes to the one it has more in common with.
        (
            [entity("cramping", "hands"), entity("cramping", "lower legs")],
            [entity("cramping in my hands")],
            [
                ("boundary", ["cramping hands"], ["cramping in my hands"]),
                ("missed", ["cramping lower legs"], []),
            ],
        ),
        # Repetitions count once, and the surest is kept.
        (
            [entity("rash"), entity("rash")],
            [entity("rash", score=0.2), entity("rash", score=0.7)],
            [("correct", ["rash"], ["rash"])],
        ),
    ],
)
def test_kinds_by_hand(gold, predicted, expected):
    found = kinds(gold, predicted)
    assert sorted(found) == sorted(expected)


def test_the_surest_of_repetitions_is_kept():
    gold = Document("d", TEXT, (entity("rash"),))
    found = Document("d", TEXT, (entity("rash", score=0.7), entity("rash", score=0.2)))
    (finding,) = compare([gold], [found]).documents[0].findings
    assert [e.score for e in finding.predicted] == [0.7]


def test_findings_are_in_the_order_of_the_text():
    gold = [entity("rash"), entity("severe", label="Drug"), entity("cramping")]
    assert kinds(gold, [entity("rash"), entity("and severe cramping"), entity("pain")]) == [
        ("spurious", [], ["pain"]),
        ("boundary", ["cramping"], ["and severe cramping"]),
        ("missed", ["severe"], []),
        ("correct", ["rash"], ["rash"]),
    ]


def test_of_several_types_in_one_place_the_first_by_name_is_the_wrong_type():
    others = [entity("rash", label=label) for label in ("Drug", "Dose")]
    for found in (others, others[::-1]):
        (part,) = compare(
            [Document("d", TEXT, (entity("rash"),))], [Document("d", TEXT, tuple(found))]
        ).documents
        assert {f.kind: f.predicted[0].label for f in part.findings} == {
            "type": "Dose",
            "spurious": "Drug",
        }


def test_entities_of_findings_have_merged_fragments_and_the_text_there():
    text = "severe \n pain"
    parted = Document("d", text, (Entity("ADR", ((0, 7), (9, 13)), "severe pain", id="T1"),))
    ((finding,),) = (part.findings for part in compare([parted], []).documents)
    assert finding.gold == (Entity("ADR", ((0, 13),), text, id="T1"),)
    blank = Document("d", text, (Entity("ADR", ((6, 7),), " "),))
    ((finding,),) = (part.findings for part in compare([blank], []).documents)
    assert finding.gold == (Entity("ADR", ((6, 7),), " "),)


def test_a_missing_document_is_missed_and_a_foreign_one_refused(refused):
    gold = Document("d", TEXT, (entity("rash"), entity("pain")))
    assert compare([gold], []).counts()["missed"] == Count(2, 0)
    with refused():
        compare([gold], [Document("e", TEXT)])


@given(st.data())
def test_every_entity_stands_in_exactly_one_finding_and_counts_add_up(data):
    gold = data.draw(documents())
    predicted = [Document(d.id, d.text, data.draw(entities(d.text, scored=True))) for d in gold]
    # Some predictions are right, or right but for the type.
    predicted = [
        Document(p.id, p.text, p.entities + data.draw(st.sampled_from([(), g.entities[:1]])))
        for p, g in zip(predicted, gold, strict=True)
    ]
    comparison = compare(gold, predicted)
    for document, answer, compared in zip(gold, predicted, comparison.documents, strict=True):
        for side, source in (("gold", document), ("predicted", answer)):
            told = [document.key(e) for f in compared.findings for e in getattr(f, side)]
            assert sorted(told) == sorted({document.key(e) for e in source.entities})
    counts, scores = comparison.counts(), score(gold, predicted)
    assert tuple(counts) == KINDS
    assert sum(c.gold for c in counts.values()) == scores.overall.gold
    assert sum(c.predicted for c in counts.values()) == scores.overall.predicted
    assert counts["correct"] == Count(scores.overall.correct, scores.overall.correct)
    for kind in ("type", "boundary"):
        assert counts[kind].gold == counts[kind].predicted
    assert counts["missed"].predicted == counts["spurious"].gold == 0
    assert counts["split"].predicted >= 2 * counts["split"].gold
    assert counts["joined"].gold >= 2 * counts["joined"].predicted


FRAGMENTS = st.sets(st.integers(0, 12), min_size=2, max_size=6).map(
    lambda bounds: tuple(pairwise(sorted(bounds)))[::2]
)
KEYS = st.lists(st.tuples(st.sampled_from("AB"), FRAGMENTS), max_size=14, unique=True)


@given(KEYS, KEYS)
def test_agrees_with_the_definition(left, right):
    assert list(_groups(left, right)) == list(naive_groups(left[:], right[:]))


@given(KEYS, KEYS)
def test_agrees_with_the_definition_where_it_is_cut_too(left, right):
    """Nothing runs across a cut: what is far apart is grouped apart."""
    left, right = (sorted(keys, key=lambda key: (key[1], key[0])) for keys in (left, right))
    found = [group for part in _clusters(left, right) for group in _groups(*part)]
    assert sorted(found) == sorted(naive_groups(left, right))


def test_a_piece_that_another_whole_has_taken_makes_room_for_those_it_overlapped():
    left = [("A", ((0, 6),)), ("A", ((0, 3), (10, 20)))]
    right = [("A", ((0, 3),)), ("A", ((3, 6),)), ("A", ((10, 15),)), ("A", ((0, 2),))]
    expected = [
        ("split", [left[0]], [right[0], right[1]]),
        ("split", [left[1]], [right[3], right[2]]),
    ]
    assert list(_groups(left, right)) == list(naive_groups(left[:], right[:])) == expected


def test_an_entity_around_all_others_does_not_take_long():
    # Offers that are all made again for each that is taken would be minutes.
    count = 2000
    text = "ab cd " * count
    around = Entity("ADR", ((0, 2), (6 * count - 3, 6 * count - 1)), "ab cd")
    gold = (
        *(Entity("ADR", ((6 * i, 6 * i + 5),), "ab cd") for i in range(count)),
        Entity("ADR", ((0, 6 * count - 1),), text[:-1]),
    )
    found = (*(Entity("ADR", ((3 * i, 3 * i + 2),), "ab") for i in range(2 * count)), around)
    comparison = compare([Document("d", text, gold)], [Document("d", text, found)])
    assert comparison.counts()["split"] == Count(count, 2 * count)


def test_many_entities_do_not_take_long():
    # Quadratic in all entities would be minutes; entities only meet their neighbours.
    text = "pain rash " * 5000
    gold = tuple(Entity("ADR", ((10 * i, 10 * i + 9),), "pain rash") for i in range(5000))
    found = tuple(
        Entity("ADR", ((10 * i + a, 10 * i + b),), text[a:b])
        for i in range(5000)
        for a, b in ((0, 4), (5, 9))
    )
    comparison = compare([Document("d", text, gold)], [Document("d", text, found)])
    assert comparison.counts()["split"] == Count(5000, 10000)
