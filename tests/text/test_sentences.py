"""Where sentences start: running text, layout, and what becomes of long ones."""

from __future__ import annotations

import tracemalloc
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.text import sentences as room
from trigner.text.sentences import LONGEST, sentence_words
from trigner.text.words import word_ranges


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
        ("Dose of\n-5 or\n3.5 mg", ["Dose of\n-5 or\n3.5 mg"]),
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
