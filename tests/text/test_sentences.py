"""Where sentences start: running text, layout, and what becomes of long ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.text.sentences import LONGEST, sentence_spans
from trigner.text.words import word_ranges


def sentences(text: str) -> list[str]:
    words = word_ranges(text)
    return [
        text[words[first][0] : words[last - 1][1]] for first, last in sentence_spans(text, words)
    ]


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
    words = word_ranges(text)
    spans = sentence_spans(text, words)
    assert [word for span in spans for word in range(*span)] == list(range(len(words)))
    assert all(first < last for first, last in spans)


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
