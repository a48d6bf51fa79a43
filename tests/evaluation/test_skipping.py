from __future__ import annotations

from trigner.evaluation.scores import score
from trigner.evaluation.skipping import without_first
from trigner.mentions import Document, Entity

TEXTS = {
    "a": "Left leg hurt. No pain at all. Then numb arm.",
    "b": "Numb again. Some pain.",
}


def document(name, *surfaces):
    text = TEXTS[name]
    entities = tuple(Entity("ADR", ((text.index(s), text.index(s) + len(s)),), s) for s in surfaces)
    return Document(name, text, entities)


GOLD = [document("a", "leg hurt", "numb arm"), document("b", "Numb", "pain")]
FOUND = [document("a", "leg hurt", "pain", "numb arm"), document("b", "Numb again", "pain")]


def surfaces(documents):
    return [[e.text for e in d.entities] for d in documents]


def test_sentences_are_counted_over_all_documents():
    assert surfaces(without_first(GOLD, 0)) == [["leg hurt", "numb arm"], ["Numb", "pain"]]
    assert surfaces(without_first(GOLD, 2)) == [["numb arm"], ["Numb", "pain"]]
    assert surfaces(without_first(GOLD, 4)) == [[], ["pain"]]
    assert surfaces(without_first(GOLD, 9)) == [[], []]
    assert [d.text for d in without_first(GOLD, 9)] == list(TEXTS.values())


def test_it_changes_counts_and_no_prediction():
    """TOE, section 10, test 7."""
    before = surfaces(FOUND)
    whole = score(GOLD, FOUND).overall
    part = score(list(without_first(GOLD, 2)), list(without_first(FOUND, 2))).overall
    assert surfaces(FOUND) == before
    assert (whole.correct, whole.predicted, whole.gold) == (3, 5, 4)
    assert (part.correct, part.predicted, part.gold) == (2, 3, 3)


def test_what_runs_across_sentences_is_of_its_first():
    across = Entity("ADR", ((9, 13), (15, 17)), "hurt No")
    (found,) = without_first([Document("a", TEXTS["a"], (across,))], 1)
    assert found.entities == ()


def test_blanks_at_the_edge_of_a_fragment_are_of_no_sentence():
    text = "Fine. Rash came."
    wide, narrow = (Document("d", text, (Entity("ADR", (f,), ""),)) for f in ((5, 10), (6, 10)))
    (gold,), (found,) = without_first([wide], 1), without_first([narrow], 1)
    assert score([gold], [found]).overall.correct == 1
