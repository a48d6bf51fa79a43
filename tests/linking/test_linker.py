from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.corpora import read
from trigner.errors import InputError, TrignerError
from trigner.linking.evaluation import evaluate
from trigner.linking.linker import THRESHOLD, Linker
from trigner.linking.vocabulary import Concept, Vocabulary, normalised, read_vocabulary
from trigner.mentions import Document, Entity

fuzz = pytest.importorskip("rapidfuzz").fuzz

DATA = Path(__file__).parents[2] / "data" / "findings"
VOCABULARY = Vocabulary(
    (
        Concept("F1", "Leg pain", ("pain in the lower legs", "aching legs")),
        Concept("F2", "Arm pain"),
        Concept("F3", "Nausea", ("feeling sick",)),
    )
)


@pytest.fixture(scope="module")
def linker():
    return Linker(VOCABULARY)


def test_the_same_text_the_same_words_and_what_is_alike(linker):
    for text, match in (("Leg pain", "exact"), ("PAIN IN LEGS", "words"), ("leg pains?", "words")):
        best = linker.find(text)[0]
        assert (best.code, best.match, best.score) == ("F1", match, 1.0)
    best = linker.find("nausae")[0]
    assert (best.code, best.term, best.match) == ("F3", "Nausea", "alike")
    assert THRESHOLD < best.score < 1


def test_a_discontinuous_entity_is_linked_by_its_words(linker):
    text = "Pain and cramping in my hands and lower legs."
    entity = Entity.in_text(text, "ADR", [(0, 4), (18, 20), (34, 44)])
    assert entity.text == "Pain in lower legs"
    linked = linker.link(Document("d", text, (entity,))).entities[0]
    assert linked.fields["code"] == "F1"
    assert [c["code"] for c in linked.fields["candidates"]][:2] == ["F1", "F2"]
    assert linked.fields["candidates"][0]["match"] == "words"


def test_nothing_alike_has_no_code(linker):
    text = "zzz"
    fields = {"code": "F9", "candidates": [{"code": "F9"}], "negated": True}
    document = Document("d", text, (Entity.in_text(text, "ADR", [(0, 3)], fields=fields),))
    assert linker.link(document).entities[0].fields == {"negated": True}


def test_below_the_threshold_there_are_candidates_alone():
    fields = Linker(VOCABULARY, threshold=1.0, candidates=2).fields("leg paining")
    assert set(fields) == {"candidates"}
    assert len(fields["candidates"]) == 2
    score = fields["candidates"][0]["score"]
    assert Linker(VOCABULARY, threshold=score).fields("leg paining")["code"] == "F1"
    assert Linker(VOCABULARY, threshold=0).fields("zip")["code"]


def test_no_more_texts_are_remembered_than_fit(monkeypatch):
    monkeypatch.setattr("trigner.linking.linker._REMEMBERED", 2)
    forgetful = Linker(VOCABULARY)
    texts = ("leg pain", "arm pain", "nausea", "leg pain", "sick")
    assert [forgetful.find(text) for text in texts] == [Linker(VOCABULARY).find(t) for t in texts]
    assert len(forgetful._known) <= 2


@given(st.text(alphabet="leg pain arm sick", max_size=12))
def test_the_nearest_are_those_of_a_search_one_by_one(text):
    """Each concept's best term by the definition of the score, the first of equal ones first."""

    def score(term):
        if normalised(term) == normalised(text) != "":
            return 1.0
        return min(round(fuzz.ratio(normalised(text), normalised(term)) / 100, 4), 0.9999)

    best = [(max(map(score, c.terms)), c.code) for c in VOCABULARY.concepts]
    wanted = sorted((pair for pair in best if pair[0] > 0), key=lambda pair: -pair[0])
    found = Linker(VOCABULARY).find(text)
    assert [(c.score, c.code) for c in found] == wanted


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Hepatitis A", "F1"),
        ("HEPATITIS A", "F2"),
        ("hepatitis", "F3"),
        ("Hépatitis", "F3"),
        ("by hepatitis", "F4"),
    ],
)
def test_of_the_same_words_those_spelt_alike_come_first(text, code, backwards):
    rows = [
        Concept("F1", "Hepatitis A"),
        Concept("F2", "HEPATITIS A"),
        Concept("F3", "Hepatitis"),
        Concept("F4", "Hepatitis in it", ("hepatitis by",)),
    ]
    found = Linker(Vocabulary(tuple(rows[::-1] if backwards else rows)), candidates=1).find(text)
    assert [(candidate.code, candidate.score) for candidate in found] == [(code, 1.0)]


def test_of_rows_spelt_as_much_alike_the_first_comes_first():
    for rows in (("Hepatitis A", "HEPATITIS A"), ("HEPATITIS A", "Hepatitis A")):
        linker = Linker(Vocabulary(tuple(Concept(name, name) for name in ("Hepatitis", *rows))))
        assert [c.code for c in linker.find("hepatitis a")] == [*rows, "Hepatitis"]


def test_the_same_words_in_the_same_order_are_more_alike():
    for names in (("legs pain", "pain legs"), ("pain legs", "legs pain")):
        linker = Linker(Vocabulary(tuple(Concept(name, name) for name in names)))
        assert linker.find("Pain Legs")[0].code == "pain legs"


def test_of_many_rows_that_are_as_much_alike_the_first_come_first():
    rows = tuple(Concept(f"F{n}", "Leg pain") for n in range(40))
    found = Linker(Vocabulary(rows)).find("leg paining")
    assert [candidate.code for candidate in found] == [f"F{n}" for n in range(5)]


def test_only_the_same_words_score_1():
    (found,) = Linker(Vocabulary((Concept("F1", "a" * 50_000 + "b"),))).find("a" * 50_000 + "c")
    assert (found.score, found.match) == (0.9999, "alike")


def test_the_term_of_a_row_that_is_the_text_is_told():
    concept = Concept("F1", "Hepatitis A", ("hepatitis",))
    (found,) = Linker(Vocabulary((concept,))).find("hepatitis")
    assert (found.term, found.match) == ("hepatitis", "exact")


def test_what_has_no_words_is_itself_or_nothing():
    def vectors(texts):
        return np.ones((len(texts), 1), dtype=np.float32)

    rows = [Concept("F1", "???"), Concept("F2", "-", ("- -",)), Concept("F3", "Nausea")]
    vocabulary = Vocabulary((*rows, Concept("F4", " ")))
    for linker in (Linker(vocabulary), Linker(vocabulary, vectors=vectors)):
        for text, code in (("???", "F1"), ("-", "F2"), (" -\n- ", "F2")):
            (found,) = linker.find(text)
            assert (found.code, found.score) == (code, 1.0)
        for text in ("?", "?? ?", "...", "--", " ", ""):
            assert linker.fields(text) == {}
        assert "F1" not in {candidate.code for candidate in linker.find("nausea???")}


def test_vectors_count_half():
    directions = {"Nausea": [1.0, 0.0], "queasy": [0.8, 0.6], "Arm pain": [-1.0, 0.0]}

    def vectors(texts):
        return np.array([directions.get(t, [0.0, 1.0]) for t in texts], dtype=np.float32)

    found = {c.code: c for c in Linker(VOCABULARY, vectors=vectors).find("queasy")}
    alike = fuzz.ratio(normalised("queasy"), "nausea") / 100
    assert found["F3"].score == pytest.approx((alike + 0.8) / 2, abs=1e-4)
    assert Linker(VOCABULARY, vectors=vectors).find("NAUSEA")[0].score == 1  # the same words
    # What points the other way takes nothing away.
    alike = fuzz.ratio("queasy", normalised("Arm pain")) / 100
    assert found["F2"].score == pytest.approx(alike / 2, abs=1e-4)


def test_without_rapidfuzz_the_message_says_what_to_install(monkeypatch, refused):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with refused(error=TrignerError):
        Linker(VOCABULARY)


@pytest.mark.parametrize("options", [{"candidates": 0}, {"candidates": 2.5}, {"threshold": 1.5}])
def test_options_that_make_no_sense(options):
    with pytest.raises(InputError):
        Linker(VOCABULARY, **options)


def test_a_linker_can_be_pickled(linker):
    linker.find("sick")
    assert pickle.loads(pickle.dumps(linker)).find("sick") == linker.find("sick")


def document(*found):
    """A text with these (surface, code) side by side."""
    text = " ".join(surface for surface, _ in found)
    entities, at = [], 0
    for surface, code in found:
        fields = {} if code is None else {"code": code}
        entities.append(Entity.in_text(text, "ADR", [(at, at + len(surface))], fields=fields))
        at += len(surface) + 1
    return Document("d", text, tuple(entities))


def test_evaluation_by_hand(linker):
    found = evaluate(
        linker, [document(("leg pain", "F1"), ("arm pain", "F3"), ("nausae", None), ("leg", "F1"))]
    )
    assert (found.entities, found.coded, found.first, found.among) == (4, 3, 2, 3)
    assert found.matches == {"words": 2, "alike": 2}
    told = found.as_json()
    assert [told[name] for name in ("entities", "coded", "first", "among")] == [4, 3, 2, 3]
    assert told["best"]["threshold"] == found.curve.best[0]
    at_all = found.curve.points[0][1]
    assert (at_all.correct, at_all.predicted, at_all.gold) == (2, 4, 3)
    certain = found.curve.points[-1]
    assert certain[0] == 1.0
    assert (certain[1].correct, certain[1].predicted) == (1, 2)


def test_what_nothing_is_like_is_counted_and_no_prediction(linker):
    found = evaluate(linker, [document(("zzz", "F1"), ("leg pain", "F1"))])
    assert (found.entities, found.first, found.matches) == (2, 1, {"none": 1, "words": 1})
    assert found.curve.points[0][1].predicted == 1


def test_data_without_codes_and_with_unknown_ones(linker, refused):
    with refused():
        evaluate(linker, [document(("leg pain", None))])
    for code in ("F9", ""):
        with refused():
            evaluate(linker, [document(("leg pain", code))])
    for code in (["F1", "F2"], {"F1": 1}, 1):
        with refused():
            evaluate(linker, [document(("leg pain", code))])


@pytest.mark.parametrize(
    ("part", "wanted"), [("dev", [41, 36, 40, 97, 71, 82]), ("test", [28, 24, 25, 86, 64, 73])]
)
def test_codes_at_the_threshold_are_as_good_as_they_were(part, wanted):
    """Findings with a code, right row first and among five; precision, recall, F1 in percent."""
    linker = Linker(read_vocabulary(DATA / "vocabulary.csv"))
    found = evaluate(linker, read(DATA / f"{part}.jsonl").documents)
    at = next(score for threshold, score in found.curve.points if threshold >= THRESHOLD)
    scores = [round(100 * value) for value in (at.precision, at.recall, at.f1)]
    assert [found.coded, found.first, found.among, *scores] == wanted
