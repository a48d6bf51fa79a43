"""Where sentences start: running text, layout, and what becomes of long ones."""

from __future__ import annotations

import time
import tracemalloc
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.text import sentences as room
from trigner.text.sentences import LONGEST, sentence_words
from trigner.text.words import word_ranges

MINI_ADR = Path(__file__).resolve().parents[2] / "data" / "mini-adr"
QUOTES = "«»\N{LEFT SINGLE QUOTATION MARK}’\N{SINGLE LOW-9 QUOTATION MARK}“”„‟《》「」"
QUOTES += "\N{SINGLE HIGH-REVERSED-9 QUOTATION MARK}\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"
REPEATED = (
    *QUOTES,
    *"`'\"()[{<!?.。/@•*\\\t\n\r\f",
    *("` ", "“ ", "„a„ ", "'a' ", "``a`", "“A. ", "“““““““““a. ", "'a' \"b\" ", ".'.`"),
    *("A。", "A!", "A.“ ", "Yahoo!A", "etc.The.", "5 p.m. A", "(a) Aa. ", "• Aa. B ", "((a)"),
    *('"(a". )', "a@b.cc ", ".\n", "+ Aa. B\n", "! ", "1) ", "\nA", "((("),
)
"""What sentencex alone needs a time for that grows with the square of its length, and the like."""


def sentences(text: str) -> list[str]:
    return [text[words[0][0] : words[-1][1]] for words in sentence_words(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He fell. She did not.", ["He fell.", "She did not."]),
        ("Seen by Dr. Brook at noon.", ["Seen by Dr. Brook at noon."]),
        ("Took 2.5 mg b.i.d. and slept.", ["Took 2.5 mg b.i.d. and slept."]),
        ("No sig. changes seen.", ["No sig. changes seen."]),
        ("Pain in the\nleft knee. It went.", ["Pain in the\nleft knee.", "It went."]),
        ("Pain in the\r\nleft knee", ["Pain in the\r\nleft knee"]),
        ("Side effects\n\nA rash", ["Side effects", "A rash"]),
        ("Side effects\r\n \t\r\nA rash", ["Side effects", "A rash"]),
        ("Side effects\fA rash\u2029Fever", ["Side effects", "A rash", "Fever"]),
        ("Seen:\n * rash\n * fever", ["Seen:", "* rash", "* fever"]),
        ("Seen:\n1. rash\n2) fever", ["Seen:", "1. rash", "2) fever"]),
        ("Seen:\n12. rash\n‣ fever\n– cough", ["Seen:", "12. rash", "‣ fever", "– cough"]),
        ("Side effects\r\rA rash", ["Side effects", "A rash"]),
        ("“He fell.” She did not.", ["“He fell.”", "She did not."]),
        ("Dose of\n-5 or\n3.5 mg", ["Dose of\n-5 or\n3.5 mg"]),
        ("Dose of\n100. mg of it", ["Dose of\n100. mg of it"]),
        ("Rash  12 (4)  13 (5)", ["Rash  12 (4)  13 (5)"]),
        ("痛い。頭痛がある。", ["痛い。", "頭痛がある。"]),
        ("a\ud800 end. Then more.", ["a\ud800 end.", "Then more."]),
        ("", []),
        (" \n\n\t\n ", []),
    ],
)
def test_boundaries(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text() | st.text(alphabet="aB. \n\r\t\f*1)!\u0301😀\ud800", max_size=400))
def test_sentences_partition_the_words(text: str) -> None:
    found = list(sentence_words(text))
    assert [word for words in found for word in words] == word_ranges(text)
    assert all(found)


WIDE_BLANKS = "\x85\xa0\u1680\u2009\u2028\u202f\u3000"


@pytest.mark.parametrize("blank", WIDE_BLANKS)
def test_a_capital_a_blank_that_is_not_ascii_and_a_full_stop(blank: str) -> None:
    found = sentences(f"He took vitamin K{blank}. Then he had pain.")
    assert found == [f"He took vitamin K{blank}.", "Then he had pain."]


PIECES = st.sampled_from([*"aAZK .1('\"\n", *WIDE_BLANKS, "Dr.", "e.g.", "é", "😀"])
INITIALS = st.tuples(*map(st.sampled_from, ("AK", ["", " ", "\n "], WIDE_BLANKS, "."))).map("".join)


@given(st.lists(PIECES | INITIALS, max_size=60).map("".join))
def test_no_blank_makes_the_splitter_fail(text: str) -> None:
    given: list[str] = []

    def found(language: str, window: str) -> list[dict[str, int]]:
        given.append(window)
        return original(language, window)

    original = room.sentencex.get_sentence_boundaries
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room.sentencex, "get_sentence_boundaries", found)
        words = [word for sentence in sentence_words(text) for word in sentence]
    assert words == word_ranges(text)
    for window in given:  # in which no failure was passed over
        original("en", window)


def test_a_failure_of_the_splitter_costs_its_boundaries_alone(monkeypatch) -> None:
    class PanicException(BaseException):  # what pyo3 makes of a panic
        pass

    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(room.sentencex, "get_sentence_boundaries", fails)
    error: BaseException = PanicException("byte index 18 is not a char boundary")
    assert sentences("He fell. She did not.\n\nA rash") == ["He fell. She did not.", "A rash"]
    error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        sentences("He fell.")


def test_a_wrapped_sentence_stays_whole_up_to_the_limit() -> None:
    text = "\n".join(["word " * 10] * (LONGEST // 10))
    assert len(sentences(text)) == 1


def test_a_long_table_is_divided_between_rows() -> None:
    rows = [f"itch {row}    3 (1)    4 (2)" for row in range(30)]  # 10 words each
    found = sentences("\n".join(rows))
    assert found == ["\n".join(rows[at : at + 5]) for at in range(0, 30, 5)]


def test_a_long_row_is_divided_between_cells() -> None:
    cells = ["some words in here"] * 40
    assert sentences("     ".join(cells)) == ["     ".join(cells[:12])] * 3 + [
        "     ".join(cells[:4])
    ]


@pytest.mark.parametrize(("between", "parts"), [("\t", 4), ("    ", 4), ("   ", 1)])
def test_cells_are_divided_by_tabs_and_wide_gaps(between: str, parts: int) -> None:
    assert len(sentences(between.join(["some words in here"] * 40))) == parts


def test_a_long_sentence_without_layout_stays_whole() -> None:
    assert len(sentences("word " * 3000)) == 1


SHORT = st.sampled_from(
    ["He fell. ", "Dr. Brook came. ", "No pain", "2.5 mg\n", "(It hurt.) ", " "]
)


@given(st.lists(SHORT, max_size=60).map("".join), st.integers(1, 40))
def test_a_long_block_is_read_in_stretches_without_losing_a_word(text: str, stretch: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "STRETCH", stretch)
        found = list(sentence_words(text))
    assert [word for words in found for word in words] == word_ranges(text)
    assert all(found)


def test_stretches_end_where_sentences_do(monkeypatch) -> None:
    text = "He fell on the stairs. She saw Dr. Brook at noon. Nothing was broken. " * 20
    whole = sentences(text)
    for stretch in (5, 30, 71, 200):
        monkeypatch.setattr(room, "STRETCH", stretch)
        assert sentences(text) == whole


@pytest.mark.slow
def test_sentences_of_a_long_text_are_found_as_they_are_asked_for() -> None:
    text = "He fell on the stairs and she saw nothing of it. " * 100_000
    list(sentence_words(text[:1000]))  # what is built at first use
    tracemalloc.start()
    try:
        count = sum(1 for _ in islice(sentence_words(text), 50_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 50_000
    assert peak < len(text) * 2


def seconds(text: str) -> float:
    """Of the processor, for the sentences of a text."""
    begun = time.process_time()
    for _ in sentence_words(text):
        pass
    return time.process_time() - begun


@pytest.mark.parametrize("repeated", REPEATED)
def test_time_grows_with_the_length_alone(repeated: str) -> None:
    text = repeated * (160_000 // len(repeated))
    assert seconds(text) < max(6 * seconds(text[:40_000]), 1)


def test_a_long_text_is_not_read_over_and_over(monkeypatch) -> None:
    """Of the first sentences each was found alone: the next began with a quote without end."""
    text = 'A (" “). ' * 2000 + "A ”" + " word" * 20_000
    read = []

    def counted(text: str, start: int, stop: int) -> list[tuple[int, int]]:
        read.append(stop - start)
        return word_ranges(text, start, stop)

    monkeypatch.setattr(room, "word_ranges", counted)
    assert sum(map(len, sentence_words(text))) == len(word_ranges(text))
    assert sum(read) < 8 * len(text)


CLOSED = st.sampled_from(
    [
        *("He fell. ", "Dr. Brook came at 2.5 p.m. ", "It hurt (a lot), he said. ", "No: none! "),
        *('"It is over. The pain went." ', "He said “no. Never.” and left. ", "«Oh!» (It went.) "),
        *("The patient's leg, a 2-3 cm\nwound; 5% of it. ", "Was it so? ", "It's 12 [n=4]\t13. "),
    ]
)


@given(st.lists(CLOSED, min_size=20, max_size=120).map("".join), st.integers(60, 200))
def test_windows_give_what_the_whole_gives_where_quotes_are_closed(text: str, marks: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "MARKS", len(text))
        whole = list(sentence_words(text))
        patch.setattr(room, "MARKS", marks)
        assert list(sentence_words(text)) == whole


def test_the_corpus_is_read_without_windows(monkeypatch) -> None:
    texts = [path.read_text("utf-8") for path in sorted(MINI_ADR.rglob("*.txt"))]
    found = [sentences(text) for text in texts]
    assert sum(map(len, found)) > 500
    monkeypatch.setattr(room, "MARKS", 10**9)
    assert [sentences(text) for text in texts] == found


@given(st.text(alphabet="aB. \n\"“”'`()!*1", max_size=300), st.integers(1, 20))
def test_windows_lose_no_word(text: str, marks: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "MARKS", marks)
        found = list(sentence_words(text))
    assert [word for words in found for word in words] == word_ranges(text)
    assert all(found)
