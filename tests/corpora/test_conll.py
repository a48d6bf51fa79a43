"""CoNLL's columns: tags of every kind are read, BIO is written, what has no tags is counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.corpora.conll import read, recognises, write
from trigner.corpora.reading import Reading
from trigner.corpora.words import document_of
from trigner.mentions import Document, Entity, Mention

WORDS = ["my", "left", "leg", "hurts", "badly"]


def file_of(root, text, name="a.conll"):
    path = root / name
    path.write_bytes(text.encode())
    return path


def columns(tags, separator="\t"):
    return "".join(f"{w}{separator}{t}\n" for w, t in zip(WORDS, tags.split(), strict=False))


@pytest.mark.parametrize("separator", ["\t", " ", "\tNN\tO\t", " NN "])
@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("O B-X I-X O B-Y", [((1, 2), "X"), ((4,), "Y")]),
        ("O I-X I-X O I-Y", [((1, 2), "X"), ((4,), "Y")]),  # IOB1
        ("O I-X B-X O O", [((1,), "X"), ((2,), "X")]),
        ("O B-X E-X O S-Y", [((1, 2), "X"), ((4,), "Y")]),  # IOBES
        ("O B-X L-X U-Y U-Y", [((1, 2), "X"), ((3,), "Y"), ((4,), "Y")]),  # BILOU
        ("B-X I-Y I-Y O E-X", [((0,), "X"), ((1, 2), "Y"), ((4,), "X")]),
        ("B-X-1 I-X-1 E-X-1 I-X-1 O", [((0, 1, 2), "X-1"), ((3,), "X-1")]),
        ("S-X I-X U-X I-X O", [((0,), "X"), ((1,), "X"), ((2,), "X"), ((3,), "X")]),
        ("O O O O O", []),
    ],
)
def test_tags_of_every_kind(tmp_path, tags, expected, separator):
    path = file_of(tmp_path, columns(tags, separator))
    assert recognises(path)
    (document,) = read(path, Reading())
    assert document == document_of(
        "a-1", WORDS, [Mention(words, label) for words, label in expected]
    )


def test_sentences_ids_and_lines_that_are_no_words(tmp_path):
    text = "-DOCSTART- -X- O\r\n\r\n# id = one\r\n# text = x\r\na O\r\n# O\r\n\r\n\r\nb B-X\r\n"
    reading = Reading()
    found = list(read(file_of(tmp_path, "\ufeff" + text), reading))
    assert [(d.id, d.text, len(d.entities)) for d in found] == [("one", "a #", 0), ("a-2", "b", 1)]
    assert reading.notices == []


def test_blanks_and_tabs_separate_columns_and_nothing_else(tmp_path):
    path = file_of(tmp_path, " 5\u00a0mg  B-X\u00a0\r\n5\u2009g\tI-X \n")
    assert recognises(path)
    (document,) = read(path, Reading())
    assert document == document_of("a-1", ["5\u00a0mg", "5\u2009g"], [Mention((0, 1), "X")])


def test_columns_that_are_not_read_are_told(tmp_path):
    reading = Reading()
    list(read(file_of(tmp_path, columns("O O", "\tNN\tB-NP\t")), reading))
    assert [n.message for n in reading.notices] == ["2 columns between word and tag are not read"]


@pytest.mark.parametrize("line", ["word", "word\tX", "\tO", "word\tB-", "word\tO\tword", "W-X"])
def test_what_is_no_word_with_a_tag_is_named(tmp_path, line, refused):
    path = file_of(tmp_path, f"a\tO\n{line}\n")
    assert not recognises(path)
    with refused(path, 2):
        list(read(path, Reading()))


def test_an_id_that_comes_again_is_told_with_the_line_of_its_sentence(tmp_path, refused):
    path = file_of(tmp_path, "# id = one\na\tO\nb\tO\n\n# id = one\na\tO\nb\tO\n")
    with refused(path, 6):
        list(read(path, Reading()))


def test_what_looks_like_a_comment_inside_a_sentence_is_a_word(tmp_path, refused):
    (document,) = read(file_of(tmp_path, "a O\n# id = B-X\nb O\n"), Reading())
    assert document == document_of("a-1", ["a", "#", "b"], [Mention((1,), "X")])
    with refused("a.conll", 2):
        list(read(file_of(tmp_path, "a O\n# id = b\n"), Reading()))


def test_names_that_no_line_holds_are_counted(tmp_path):
    report = write(
        [document_of(name, ["x"]) for name in ("a", "a\nb", " b", "b ")], tmp_path / "a.conll"
    )
    assert {kind: n for kind, n in report.dropped.items() if n} == {"sentence names": 3}
    assert [d.id for d in read(tmp_path / "a.conll", Reading())] == ["a", "a-2", "a-3", "a-4"]


def test_an_empty_file_is_told(tmp_path, refused):
    with refused("a.conll"):
        list(read(file_of(tmp_path, "\n"), Reading()))


def test_what_has_no_tags_is_counted(tmp_path):
    mentions = [Mention(w, "X") for w in ((0, 2), (1, 2), (2, 3), (4,))]
    document = document_of("a", WORDS, mentions)
    report = write([document], tmp_path / "a.conll")
    assert report.dropped["discontinuous entities"] == 1
    assert report.dropped["overlapping entities"] == 1
    (found,) = read(tmp_path / "a.conll", Reading())
    assert [e.text for e in found.entities] == ["left leg", "badly"]


def test_raw_text_is_split_into_sentences(tmp_path):
    text = "My knees hurt. My hands hurt."
    write([Document("d", text, (Entity("X", ((3, 8),), "knees"),))], tmp_path / "a.conll")
    found = list(read(tmp_path / "a.conll", Reading()))
    assert [(d.id, len(d.entities)) for d in found] == [("d:1", 1), ("d:2", 0)]


@pytest.mark.parametrize("word", ["", "a\tb", "a\nb", "a\r", "-DOCSTART-"])
def test_words_that_no_column_holds_are_refused(tmp_path, word, refused):
    with refused("a.conll"):
        write([document_of("a", ["x", word])], tmp_path / "a.conll")


@pytest.mark.parametrize("label", ["a\tb", " a", "a\n"])
def test_labels_that_no_tag_holds_are_refused(tmp_path, label, refused):
    with refused("a.conll"):
        write([document_of("a", ["x"], [Mention((0,), label)])], tmp_path / "a.conll")


@st.composite
def flat_sentences(draw):
    """Words with mentions that neither overlap nor have gaps."""
    words = draw(st.lists(st.text("ab-#= ü\u2028\x85", min_size=1, max_size=4), min_size=1))
    bounds = sorted(draw(st.sets(st.integers(0, len(words)), max_size=6)))
    pairs = zip(bounds[::2], bounds[1::2], strict=False)
    return words, [Mention(tuple(range(a, b)), draw(st.sampled_from("XY"))) for a, b in pairs]


@given(flat_sentences())
def test_nothing_is_lost_in_a_round_trip(tmp_path_factory, made):
    words, mentions = made
    # White space alone is nothing that an entity could be of, in any format.
    mentions = [m for m in mentions if all(words[w].strip() for w in m.words)]
    document = document_of("s = 1", words, mentions)
    path = tmp_path_factory.getbasetemp() / "a.conll"
    report = write([document], path)
    assert not any(report.dropped.values())
    assert list(read(path, Reading())) == [document]
