"""`split`: sentences of words together."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.text.sentences import split


def test_words_come_sentence_by_sentence() -> None:
    text = "It hurts. My knee too."
    assert [[text[start:end] for start, end in words] for words in split(text)] == [
        ["It", "hurts", "."],
        ["My", "knee", "too", "."],
    ]


def test_a_text_without_words_has_no_sentences() -> None:
    assert split("") == split(" \r\n\t\u00a0\u2003\n\n") == ()


@given(st.text() | st.text(alphabet="aB. \n\r\t\f*1)!\x00\u200b\u0301\u05d0😀"))
def test_nothing_is_lost_and_nothing_comes_twice(text: str) -> None:
    sentences = split(text)
    covered = [at for words in sentences for start, end in words for at in range(start, end)]
    assert covered == [at for at, letter in enumerate(text) if not letter.isspace()]
    assert all(words and all(start < end for start, end in words) for words in sentences)
    assert split(text) == sentences


@given(st.text(alphabet="aB. *1)!\n"), st.text(alphabet="aB. *1)!\n"))
def test_text_after_a_blank_line_changes_nothing_before_it(before: str, after: str) -> None:
    sentences = split(before)
    assert split(f"{before}\n\n{after}")[: len(sentences)] == sentences


def seconds(text: str) -> float:
    """The fastest of three, as the machine may be busy."""
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        split(text)
        times.append(time.perf_counter() - begin)
    return min(times)


@pytest.mark.parametrize("piece", ["word ", "It hurts. ", "\n", " ", "😀é. ", "row     1 (2)\n"])
def test_long_inputs_take_time_in_proportion(piece: str) -> None:
    """Ten times the text takes nowhere near a hundred times the time."""
    assert seconds(piece * 20_000) < 40 * max(seconds(piece * 2_000), 0.001)
