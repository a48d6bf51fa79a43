from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from trigner.mentions import Document, Entity
from trigner.rendering.differences import differences_page

TEXT = "Pain in my left and right arm. I slept badly. Nausea </script> too."
LEFT = Entity("ADR", ((0, 15), (26, 29)), "")
RIGHT = Entity("ADR", ((0, 10), (20, 29)), "")
SLEPT = Entity("ADR", ((31, 44),), "")
NAUSEA = Entity("ADR", ((46, 52),), "", 0.5)


def data_of(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(found[1])


def test_sentences_in_which_two_systems_differ():
    gold = [Document("a", TEXT, (SLEPT, LEFT, RIGHT))]
    first = [Document("a", TEXT, (SLEPT, LEFT, NAUSEA))]
    second = [Document("a", TEXT, (SLEPT, RIGHT))]
    shown = data_of(differences_page(gold, {"one": first, "two": second}, title="T"))
    assert (shown["mode"], shown["systems"], shown["alike"]) == ("differences", ["one", "two"], 1)
    arms, nausea = shown["snippets"]
    assert arms["text"] == "Pain in my left and right arm."
    assert arms["outcomes"] == ["first", "second"]
    assert [(e["mark"], e["note"]) for e in arms["sides"][0]] == [
        ("second", "found by two"),
        ("first", "found by one"),
    ]
    assert arms["sides"][1][0]["fragments"] == [[0, 15], [26, 29]]
    assert nausea["outcomes"] == ["wrong"]
    assert nausea["sides"][0] == nausea["sides"][2] == []
    assert nausea["sides"][1][0]["fragments"] == [[0, 6]]
    assert (nausea["sides"][1][0]["score"], nausea["sides"][1][0]["mark"]) == (0.5, "wrong")


@pytest.mark.parametrize("scores", [(0.9, 0.3), (0.3, 0.9), (None, 0.9), (0.9, None)])
def test_of_a_mention_that_is_predicted_twice_the_surest_is_shown(scores):
    gold = [Document("a", TEXT)]
    slept = tuple(Entity("ADR", ((31, 44),), "", score) for score in scores)
    page = differences_page(gold, {"one": [Document("a", TEXT, slept)], "two": gold})
    (shown,) = data_of(page)["snippets"]
    assert [found["score"] for found in shown["sides"][1]] == [0.9]


def test_discontinuous_gold_comes_first():
    text = "I slept badly. Pain in my left and right arm."
    split = Entity("ADR", ((15, 30), (41, 44)), "")
    gold = [Document("a", text, (Entity("ADR", ((0, 13),), ""), split))]
    # What is discontinuous in a prediction alone is no reason.
    found = Document("a", text, (*gold[0].entities, Entity("ADR", ((0, 1), (8, 13)), "")))
    shown = data_of(differences_page(gold, {"one": [found], "two": [Document("a", text)]}))
    assert [snippet["start"] for snippet in shown["snippets"]] == [15, 0]


def test_two_systems_are_needed(refused):
    for names in (["one"], ["one", "two", "three"]):
        with refused(error=ValueError):
            differences_page([], {name: [] for name in names})
    gold = [Document("a", TEXT), Document("b", TEXT)]
    with refused(error=ValueError):
        differences_page(gold, {"one": gold, "two": gold[:1]})


def test_what_both_or_neither_find_is_said_where_they_differ():
    gold = [Document("a", TEXT, (LEFT, replace(RIGHT, label="Sign")))]
    wrong = Entity("ADR", ((5, 7),), "")
    first, second = ([Document("a", TEXT, own)] for own in ((wrong, LEFT), (wrong,)))
    (shown,) = data_of(differences_page(gold, {"one": first, "two": second}))["snippets"]
    assert shown["outcomes"] == ["first"]
    assert [(e["note"], e["text"]) for e in shown["sides"][0]] == [
        ("found by neither", "Pain in my right arm"),
        ("found by one", "Pain in my left arm"),
    ]
    assert [e["mark"] for e in shown["sides"][1]] == ["right", "wrong"]
    assert [e["mark"] for e in shown["sides"][2]] == ["wrong"]


def test_sentences_in_which_they_are_alike_are_counted_over_all_documents():
    gold = [Document(name, TEXT, (SLEPT, LEFT)) for name in "ab"]
    shown = data_of(differences_page(gold, {"one": gold, "two": gold}))
    assert (shown["alike"], shown["snippets"]) == (4, [])
