from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.scores_naive import naive_slices
from trigner.evaluation.counts import Score
from trigner.evaluation.scores import Key, Slices, is_discontinuous, score, unknown_labels
from trigner.mentions import Document, Entity

# Words by index:  0    1   2        3  4  5     6   7     8
ARMS = "Pain and weakness in my arms and lower legs."
REST = "I slept badly. The nausea went away."
TEXT = f"{ARMS} {REST}"


def entity(text: str, label: str, *surfaces: str, start: int = 0) -> Entity:
    """An entity over these pieces of `text`, each looked for behind the one before it."""
    fragments, place = [], start
    for surface in surfaces:
        first = text.index(surface, place)
        place = first + len(surface)
        fragments.append((first, place))
    return Entity(label, tuple(fragments), " ".join(surfaces))


def ready(name: str, words: str, *mentions: tuple[str, tuple[int, ...]]) -> Document:
    """A ready-word document of one sentence."""
    offsets, place = [], 0
    for word in words.split(" "):
        offsets.append((place, place + len(word)))
        place += len(word) + 1
    entities = tuple(Entity(label, tuple(offsets[i] for i in at), "") for label, at in mentions)
    return Document(name, words, entities, tuple(offsets))


def counts(slices: Slices) -> dict[str, tuple[int, int, int]]:
    return {name: (s.correct, s.predicted, s.gold) for name, s in slices.items()}


def document(name: str, *entities: Entity) -> Document:
    return Document(name, TEXT, entities)


PAIN = entity(TEXT, "ADR", "Pain")
PAIN_LEGS = entity(TEXT, "ADR", "Pain", "in my", "lower legs")
WEAK_ARMS = entity(TEXT, "ADR", "weakness in my arms")
SLEPT = entity(TEXT, "ADR", "slept badly")
NAUSEA = entity(TEXT, "Sign", "nausea")
I_BADLY = entity(TEXT, "ADR", "I", "badly")


def test_every_slice_by_hand() -> None:
    gold = [document("a", PAIN_LEGS, WEAK_ARMS, SLEPT, NAUSEA)]
    predicted = [document("a", PAIN, WEAK_ARMS, PAIN_LEGS, I_BADLY, NAUSEA)]
    scores = score(gold, predicted)
    assert counts(scores.slices) == {
        "overall": (3, 5, 4),
        "discontinuous": (1, 2, 1),
        "continuous": (2, 3, 3),
        "sentences_with_discontinuous": (2, 3, 2),
        "sentences_without_discontinuous": (1, 2, 2),
    }
    assert scores.overall.precision == 0.6
    assert scores.overall.recall == 0.75
    assert scores.unreachable == 0
    assert list(scores.per_type) == ["ADR", "Sign"]
    assert counts(scores.per_type["Sign"]) == {
        "overall": (1, 1, 1),
        "discontinuous": (0, 0, 0),
        "continuous": (1, 1, 1),
        "sentences_with_discontinuous": (0, 0, 0),
        "sentences_without_discontinuous": (1, 1, 1),
    }


def test_predicted_discontinuity_alone_does_not_make_a_discontinuous_sentence() -> None:
    gold = [ready("a", "pain in my arms", ("ADR", (0,))), ready("b", "no pain now")]
    predicted = [
        ready("a", "pain in my arms", ("ADR", (0, 3))),
        ready("b", "no pain now", ("ADR", (0, 2))),
    ]
    assert counts(score(gold, predicted).slices) == {
        "overall": (0, 2, 1),
        "discontinuous": (0, 2, 0),
        "continuous": (0, 0, 1),
        "sentences_with_discontinuous": (0, 0, 0),
        "sentences_without_discontinuous": (0, 1, 1),
    }


def test_whether_a_sentence_has_discontinuous_gold_does_not_depend_on_the_label() -> None:
    words = "pain in my arms"
    gold = [ready("a", words, ("ADR", (0, 3)), ("Sign", (1,)))]
    predicted = [ready("a", words, ("Sign", (1,)))]
    sign = score(gold, predicted).per_type["Sign"]
    assert sign.sentences_with_discontinuous == Score(1, 1, 1)
    assert sign.sentences_without_discontinuous == Score(0, 0, 0)


def test_a_mention_belongs_to_the_sentence_of_its_first_character() -> None:
    across = entity(TEXT, "ADR", "legs", "slept")
    scores = score([document("a", across, NAUSEA)], [document("a", across)])
    assert scores.sentences_with_discontinuous == Score(1, 1, 1)
    assert scores.slices.sentences_without_discontinuous == Score(0, 0, 1)


def test_unreachable_gold_counts_as_missed_and_is_told_once() -> None:
    across = entity(TEXT, "ADR", "lower legs. I")
    inside = entity(TEXT, "ADR", "ausea")
    gold = [document("a", across, replace(across, id="T9"), inside, SLEPT)]
    scores = score(gold, [document("a", SLEPT)])
    assert scores.overall == Score(1, 1, 3)
    assert scores.unreachable == 2
    assert scores.unreachable_reasons == {
        "crosses a sentence boundary": 1,
        "not aligned to words": 1,
    }
    assert scores.as_json()["unreachable_reasons"] == scores.unreachable_reasons
    turned = score([document("a", inside, across)], []).unreachable_reasons
    assert list(turned) == sorted(turned)


def test_gold_against_itself_is_perfect_even_where_it_is_unreachable() -> None:
    gold = [document("a", entity(TEXT, "ADR", "legs. I"), PAIN_LEGS), document("b")]
    scores = score(gold, gold)
    assert scores.overall == Score(2, 2, 2)
    assert scores.unreachable == 1


def test_keys_ignore_what_is_no_difference() -> None:
    gold = entity(TEXT, "ADR", "weakness in my arms")
    same = Entity(
        "ADR",
        (
            *entity(TEXT, "ADR", " in my ", "arms").fragments,
            *entity(TEXT, "", "weakness").fragments,
        ),
        "",
        0.4,
        "T7",
    )
    scores = score([document("a", gold, gold)], [document("a", same)])
    assert scores.overall == Score(1, 1, 1)
    assert scores.slices.continuous == Score(1, 1, 1)


def test_the_label_counts() -> None:
    other = replace(NAUSEA, label="ADR")
    assert score([document("a", NAUSEA)], [document("a", other)]).overall == Score(0, 1, 1)


def test_ready_words_are_one_sentence_and_decide_what_touches() -> None:
    # The third word is white space: "a" and "b" do not touch.
    text = "It ended. a \u00a0 b"
    words = ((0, 2), (3, 9), (10, 11), (12, 13), (14, 15))
    gap = Entity("X", ((10, 11), (14, 15)), "a b")
    gold = Document("a", text, (gap, Entity("X", ((0, 2),), "It")), words)
    scores = score([gold], [Document("a", text, (gap,))])
    assert scores.discontinuous == Score(1, 1, 1)
    assert scores.sentences_with_discontinuous == Score(1, 1, 2)


def test_a_document_without_prediction_is_missed_and_named() -> None:
    scores = score([document("a", PAIN), document("b", NAUSEA, SLEPT)], [document("a", PAIN)])
    assert scores.overall == Score(1, 1, 3)
    assert scores.missing == ("b",)
    assert scores.as_json()["missing"] == ["b"]


def test_nothing_at_all() -> None:
    scores = score([], [])
    assert scores.overall == Score(0, 0, 0)
    assert scores.per_type == {}


def test_json_has_exactly_the_published_form() -> None:
    told = score([document("a", PAIN)], [document("a", PAIN)], signature="data:1").as_json()
    slices = [
        "overall",
        "discontinuous",
        "continuous",
        "sentences_with_discontinuous",
        "sentences_without_discontinuous",
    ]
    unreachable = ["unreachable", "unreachable_reasons"]
    assert list(told) == [*slices, "per_type", *unreachable, "left_out", "signature"]
    assert list(told["per_type"]) == ["ADR"]
    assert list(told["per_type"]["ADR"]) == slices
    assert told["overall"] == Score(1, 1, 1).as_json()
    assert told["unreachable"] == 0
    assert told["signature"] == "data:1"


def test_what_the_caller_knows_to_be_unreachable_is_kept() -> None:
    gold = [document("a", PAIN)]
    assert score(gold, gold, unreachable_by={"scheme": 3}).as_json()["unreachable_by"] == {
        "scheme": 3
    }
    assert score(gold, gold, unreachable_by={}).as_json()["unreachable_by"] == {}
    told = score(gold, gold, left_out=3, bounded=0).as_json()
    assert (told["left_out"], told["bounded"]) == (3, 0)


def test_the_calibration_error_is_known_where_all_predictions_have_scores() -> None:
    gold = [document("a", PAIN, SLEPT)]
    surest, wrong = replace(PAIN, score=0.9), replace(NAUSEA, score=0.4)
    found = score(gold, [document("a", surest, wrong)])
    assert found.calibration_error == pytest.approx((0.1 + 0.4) / 2)
    assert found.as_json()["calibration_error"] == 0.25
    two = [*gold, document("b", PAIN)]
    least = score(two, [document("a", surest, wrong), document("b", replace(SLEPT, score=0.1234))])
    assert least.as_json()["calibration_error"] == round((0.1 + 0.4 + 0.1234) / 3, 4)
    assert score(two, [document("a", surest), document("b", PAIN)]).calibration_error is None
    for others in ([document("a", surest, NAUSEA)], [document("a")], []):
        assert score(gold, others).calibration_error is None
        assert "calibration_error" not in score(gold, others).as_json()


def test_unknown_labels_are_counted() -> None:
    documents = [document("a", PAIN, SLEPT, NAUSEA), document("b", NAUSEA)]
    assert unknown_labels(documents, ["ADR"]) == {"Sign": 2}
    unsorted = [document("c", NAUSEA, PAIN)]
    assert list(unknown_labels(unsorted, [])) == ["ADR", "Sign"]
    assert unknown_labels(documents, {"ADR", "Sign"}) == {}


_PIECES = [(i, j) for i in range(0, 60, 5) for j in (i + 3, i + 5, i + 9)]
_ENTITIES = st.lists(
    st.builds(
        Entity,
        st.sampled_from(["ADR", "Sign"]),
        st.lists(st.sampled_from(_PIECES), min_size=1, max_size=3).map(tuple),
        st.just(""),
    ),
    max_size=6,
).map(tuple)
_TEXTS = st.sampled_from(
    [TEXT, "Nothing. Pain now. Nausea then. Sleep never came. I am worn out so."]
)


@st.composite
def _comparisons(draw: st.DrawFn) -> tuple[list[Document], list[Document]]:
    gold, predicted = [], []
    for name in draw(st.lists(st.sampled_from("abc"), unique=True)):
        text = draw(_TEXTS)
        words = tuple((i, i + 5) for i in range(0, 65, 5)) if draw(st.booleans()) else None
        entities, more = draw(_ENTITIES), draw(_ENTITIES)
        gold.append(Document(name, text, entities, words))
        kept = tuple(e for e in entities if draw(st.booleans()))
        if draw(st.integers(0, 3)):
            predicted.append(Document(name, text, kept + more, words))
    return gold, predicted


@given(_comparisons())
def test_agrees_with_the_definition(comparison: tuple[list[Document], list[Document]]) -> None:
    gold, predicted = comparison
    scores = score(gold, predicted)
    assert counts(scores.slices) == naive_slices(gold, predicted)
    for label, slices in scores.per_type.items():
        assert counts(slices) == naive_slices(gold, predicted, label)


@given(_comparisons())
def test_labels_add_up_to_all(comparison: tuple[list[Document], list[Document]]) -> None:
    scores = score(*comparison)
    for name, whole in scores.slices.items():
        parts = [getattr(slices, name) for slices in scores.per_type.values()]
        assert whole == Score(
            sum(p.correct for p in parts),
            sum(p.predicted for p in parts),
            sum(p.gold for p in parts),
        )


def test_many_labels_are_no_more_work_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[Key] = []

    def counting(key: Key) -> bool:
        looked_at.append(key)
        return is_discontinuous(key)

    monkeypatch.setattr("trigner.evaluation.scores.is_discontinuous", counting)
    entities = [Entity(f"C{n}", ((3 * n, 3 * n + 2),), "ab") for n in range(200)]
    documents = [Document("d", "ab " * 200, tuple(entities))]
    assert list(score(documents, documents).per_type) == sorted(e.label for e in entities)
    assert len(looked_at) < 20 * len(entities)


@given(_comparisons())
def test_order_and_repetition_change_nothing(
    comparison: tuple[list[Document], list[Document]],
) -> None:
    gold, predicted = comparison
    turned = [replace(d, entities=(d.entities * 2)[::-1]) for d in reversed(predicted)]
    assert score(gold[::-1], turned).slices == score(gold, predicted).slices


def test_a_string_is_no_list_of_labels(refused) -> None:
    with refused():
        unknown_labels([document("a")], "ADR Drug")
