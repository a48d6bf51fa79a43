from __future__ import annotations

import importlib.util
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import qualifiers_naive
from trigner.corpora import read
from trigner.mentions import Document, Entity, Sentence
from trigner.qualifiers.rules import QUALIFIERS, english, read_rules
from trigner.text.segmentation import segment

ROOT = Path(__file__).parents[2]


def said(marked):
    """Qualifiers of the entity whose fragments stand in brackets."""
    pieces = re.split(r"[\[\]]", marked)
    text, fragments = "", []
    for number, piece in enumerate(pieces):
        if number % 2:
            fragments.append((len(text), len(text) + len(piece)))
        text += piece
    return of(text, fragments)


def of(text, fragments):
    document = Document("d", text)
    entity = Entity.in_text(text, "Finding", fragments)
    (sentence,) = segment(document).sentences
    return list(english()(document, sentence, entity))


@pytest.mark.parametrize(
    ("marked", "qualifiers"),
    [
        ("She denies [chest pain].", ["negated"]),
        ("SHE DENIES [CHEST PAIN].", ["negated"]),
        ("I don’t have [chest pain].", ["negated"]),
        ("No fever, cough or [chest pain].", ["negated"]),
        ("No fever but [chest pain].", []),
        ("[Chest pain] was not observed.", ["negated"]),
        ("Not only fever, [chest pain] too.", []),
        ("Call us if you get [chest pain].", ["hypothetical"]),
        ("If you get fever, stop taking it, because of [chest pain].", []),
        ("History of [stroke], now weak.", ["historical"]),
        ("History of stroke, now [weak].", []),
        ("My mother had [a stroke].", ["other_person"]),
        ("My mother had a stroke, I have [headaches].", []),
        ("No family history of [stroke].", ["negated", "other_person"]),
        ("[Chest pain] since Monday.", []),
        ("Past history includes [stroke].", ["historical"]),
        ("[Chest pain] (not excluded).", ["hypothetical"]),
        ("I am not getting [headaches] anymore.", ["historical"]),
        ("I have [no appetite].", []),
    ],
)
def test_sentences(marked, qualifiers):
    assert said(marked) == qualifiers


@pytest.mark.parametrize(
    ("marked", "qualifiers"),
    [
        ("No [pain] or swelling [in the legs].", ["negated"]),
        ("[Pain] and redness without swelling [of the legs].", []),
        ("[Swelling] of the face, but not of [the hands].", ["negated"]),
        ("[Swelling] of the face, not [the hands], and a cough.", ["negated"]),
        ("[SWELLING] OF THE FACE, BUT NOT OF [THE HANDS].", ["negated"]),
        ("[Pain], no numbness, [in the legs].", []),
    ],
)
def test_all_fragments_are_looked_at(marked, qualifiers):
    assert said(marked) == qualifiers


def test_a_sentence_says_nothing_of_the_next_one():
    text = "She denies fever. Pain in the chest."
    document = Document("d", text)
    sentence = segment(document).sentences[1]
    entity = Entity.in_text(text, "Finding", [(18, 22)])
    assert english()(document, sentence, entity) == {}
    text = "She had chest pain. A fever was not observed."
    sentence, following = segment(Document("d", text)).sentences
    entities = [Entity.in_text(text, "Finding", own) for own in ([(8, 18)], [(22, 27)])]
    assert english()(Document("d", text), sentence, entities[0]) == {}
    assert english()(Document("d", text), following, entities[1]) == {"negated": True}


TEXT = """no without denies but not only was absent if you get may cause , history of no longer now
mother I family pain fever in the legs never happened versus suspected"""


@given(st.lists(st.sampled_from(TEXT.split()), min_size=1, max_size=14), st.data())
def test_as_defined(words, data):
    text = " ".join(words)
    starts = [sum(len(word) + 1 for word in words[:n]) for n in range(len(words))]
    chosen = data.draw(
        st.lists(st.integers(0, len(words) - 1), min_size=1, max_size=3, unique=True)
    )
    fragments = [(starts[n], starts[n] + len(words[n])) for n in sorted(chosen)]
    document = Document(
        "d", text, words=tuple((s, s + len(w)) for s, w in zip(starts, words, strict=True))
    )
    (sentence,) = segment(document).sentences
    entity = Entity.in_text(text, "Finding", fragments)
    expected = qualifiers_naive.qualifiers(english(), text, fragments)
    assert set(english()(document, sentence, entity)) == expected


def figures(name):
    spec = importlib.util.spec_from_file_location("q", ROOT / "research/benchmarks/qualifiers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    documents = read(ROOT / f"data/qualifiers/{name}.jsonl").documents
    return module.compared(documents, module.ours())[0]


def test_gold_sentences_are_what_their_page_says():
    parts = [read(ROOT / f"data/qualifiers/{name}.jsonl").documents for name in ("dev", "test")]
    assert [len(part) for part in parts] == [50, 50]
    for document in (d for part in parts for d in part):
        for entity in document.entities:
            assert set(entity.fields) <= set(QUALIFIERS)
            assert set(entity.fields.values()) <= {True}


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ("dev", [(100, 95, 98), (100, 100, 100), (100, 100, 100), (100, 100, 100), (100, 98, 99)]),
        ("test", [(96, 93, 94), (92, 100, 96), (100, 100, 100), (100, 83, 91), (96, 94, 95)]),
    ],
)
def test_rules_are_as_good_as_they_were(part, wanted):
    """Precision, recall and F1 in percent, of each qualifier and of all."""
    scores = [figures(part)[name] for name in (*QUALIFIERS, "all")]
    found = [tuple(round(100 * x) for x in (s.precision, s.recall, s.f1)) for s in scores]
    assert found == wanted


def test_rules_can_be_pickled():
    again = pickle.loads(pickle.dumps(english()))
    assert again.phrases == english().phrases


@pytest.mark.parametrize(
    "text",
    [
        "negated: [no]",
        "denied: {before: [not]}",
        "negated: {before: not}",
        "negated: {before: ['(']}",
        "negated: {before: [not, no]}",
        "negated: {ends: [~]}",
        "meaningless: ['']",
        "meaningless: [' ']",
        "ends: [12]",
        "negated: {",
        "[" * 3000,
    ],
)
def test_files_that_are_no_rules(text, tmp_path, refused):
    path = tmp_path / "rules.yaml"
    path.write_text(text)
    with refused() as raised:
        read_rules(path)
    assert raised.value.path == path


def test_a_blank_is_any_space_wherever_it_stands(tmp_path):
    path = tmp_path / "rules.yaml"
    phrases = "'not ?a', 'gram[- ]negative', 'free  of', 'x[] ]y', 'no +sign'"
    path.write_text(f"negated:\n  before: [{phrases}]\n")
    before = [phrase.pattern for phrase in read_rules(path).phrases]
    found = ("nota", "not\n a", "gram negative", "gram-negative", "free of", "x]y", "x\ty")
    assert all(any(own.fullmatch(text) for own in before) for text in found)
    assert not before[-1].search("no" + " " * 10_000 + "s")
    assert not any(own.fullmatch("gram+negative") for own in before)


def test_phrases_around_and_ends_that_touch_a_phrase(tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text("negated: {before: ['no'], around: [absent], ends: [',']}")
    rules = read_rules(path)

    def negated(text):
        (sentence,) = segment(Document("d", text)).sentences
        start = text.index("pain")
        entity = Entity.in_text(text, "Finding", [(start, start + 4)])
        return rules(Document("d", text), sentence, entity) == {"negated": True}

    assert all(map(negated, ("no pain", "absent pain", "pain absent")))
    assert not any(map(negated, ("pain no", "no, pain", "pain ,absent", "absent,pain")))
    assert rules(Document("d", ""), Sentence("d", 0, (), ()), Entity("X", ((0, 0),), "")) == {}


def test_a_path_may_be_a_string(tmp_path, refused):
    path = tmp_path / "rules.yaml"
    path.write_text("negated: {before: ['free of']}")
    (phrase,) = read_rules(str(path)).phrases
    assert phrase.qualifier == "negated"
    with refused():
        read_rules(str(tmp_path / "none.yaml"))
