"""Dai's inline text: three lines a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_documents import CHARACTERS, sentences
from trigner.corpora.inline import read, recognises, write
from trigner.corpora.reading import Reading
from trigner.corpora.words import document_of
from trigner.mentions import Document, Entity, Mention


def file_of(root, text, name="a.txt"):
    path = root / name
    path.write_bytes(text.encode())
    return path


def test_spans_are_inclusive(tmp_path):
    text = "my left knee hurts\n0,0,2,3 ADR|1,1 Side\n\nno entity\n\n\n"
    found = list(read(file_of(tmp_path, text), Reading()))
    assert [(d.id, d.text) for d in found] == [("a-1", "my left knee hurts"), ("a-2", "no entity")]
    assert found[0].entities == (
        Entity("ADR", ((0, 2), (8, 18)), "my knee hurts"),
        Entity("Side", ((3, 7),), "left"),
    )


@pytest.mark.parametrize("text", ["a b\n0,1 X", "a b\r\n0,1 X\r\n\r\n", "a b \n0,1 X\n\n\n\n"])
def test_line_ends_and_empty_lines_at_the_end_do_not_matter(tmp_path, text):
    (document,) = read(file_of(tmp_path, text), Reading())
    assert (document.text, document.entities) == ("a b", (Entity("X", ((0, 3),), "a b"),))


def test_other_white_space_is_part_of_a_word(tmp_path):
    (document,) = read(file_of(tmp_path, "take 1\u00a01/2 pills\n2,2 X\n\n"), Reading())
    assert document.entities[0].text == "pills"


def test_spans_in_any_order_are_sorted_with_a_note(tmp_path):
    reading = Reading()
    (document,) = read(file_of(tmp_path, "a b c\n2,2,0,1,1,1 X\n\n"), reading)
    assert document.entities[0].fragments == ((0, 5),)
    assert [n.line for n in reading.notices] == [2]


@pytest.mark.parametrize(
    "part",
    [
        "1,0 X",
        "0,2 X",
        "7,9 X",
        "0,999999999 X",
        "0," + "9" * 5000 + " X",
        "-1,0 X",
        "0 X",
        "0,1,1 X",
        "0,1.0 X",
        "0,0",
        "X",
    ],
)
def test_a_bad_annotation_stops_or_is_listed(tmp_path, part, refused):
    path = file_of(tmp_path, f"a\n\n\na b\n0,0 X|{part}|1,1 X\n\n")
    with refused("a.txt", 5):
        list(read(path, Reading()))
    reading = Reading(skip_bad=True)
    assert [len(d.entities) for d in read(path, reading)] == [0, 2]
    assert [n.line for n in reading.notices] == [5]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", None),
        ("\n\n\n", None),
        ("a\n\n\n\n0,0 X\n\n", 4),
        ("a\n\nb\n", 3),
        ("a  b\n\n\n", 1),
        (" a\n\n\n", 1),
    ],
)
def test_wrong_shapes_name_file_and_line(tmp_path, text, line, refused):
    path = file_of(tmp_path, text)
    with refused(path, line):
        list(read(path, Reading()))


def test_recognised_by_annotated_sentences(tmp_path):
    path = file_of(tmp_path, "a b\n\n\na b\n0,1 X\n\n")
    assert recognises(path)
    assert recognises(tmp_path)
    for beside in ("a.ann", "a.ANN"):
        file_of(tmp_path, "", beside)
        assert not recognises(path)
        (tmp_path / beside).unlink()
    assert not recognises(file_of(tmp_path, "a b\n0,1 X\nc d\n", "d.txt"))
    assert not recognises(file_of(tmp_path, "a b\n\n\n", "b.txt"))
    assert not recognises(file_of(tmp_path, "Dear all,\nthis is prose.\n\n", "c.txt"))


WORDS = st.text(CHARACTERS, min_size=1, max_size=5).filter(
    lambda word: word.strip() and not set(word) & set(" \n\r")
)


@given(sentences(WORDS))
def test_nothing_is_lost_in_a_round_trip(tmp_path_factory, items):
    made = [
        document_of(
            f"a-{number}",
            item["sentence"],
            [Mention(tuple(entry["index"]), entry["type"]) for entry in item["ner"]],
        )
        for number, item in enumerate(items, 1)
    ]
    path = tmp_path_factory.getbasetemp() / "a.txt"
    write(made, path)
    assert list(read(path, Reading())) == made


@pytest.mark.parametrize("word", ["", " ", "a b", "a\n", "\r", "\u00a0"])
def test_words_that_would_be_torn_are_refused(tmp_path, word, refused):
    with refused("a.txt"):
        write([document_of("s", ["a", word], [])], tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("label", ["A|B", "A\n", " A"])
def test_labels_that_would_be_torn_are_refused(tmp_path, label, refused):
    with refused("a.txt"):
        write([document_of("s", ["a"], [Mention((0,), label)])], tmp_path / "a.txt")


def test_losses_are_counted(tmp_path):
    entity = Entity("X", ((0, 2),), "Hi", 0.0)
    documents = [document_of("s", [], []), Document("d", "Hi there.", (entity,))]
    documents.append(Document("e", " \n"))
    report = write(documents, tmp_path / "a.txt")
    assert {kind: n for kind, n in report.dropped.items() if n} == {
        "documents without words": 2,
        "sentence names": 1,
        "document ids": 2,
        "line breaks and spaces of raw text": 2,
        "scores": 1,
    }
    assert (tmp_path / "a.txt").read_text() == "Hi there .\n0,0 X\n\n"
