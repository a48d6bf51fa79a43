from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from random_documents import CHARACTERS
from trigner.rendering.columns import columns_of, printable, runs_right_to_left

TEXTS = st.text(
    CHARACTERS | st.sampled_from("a bc\u0301\u200d\ufe0f\u2764\u6f22\u202e\x1b[\x00\U0001f469"),
    max_size=60,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\r\n\tb", "a b"),
        ("\x1b[31mred\x07", "\ufffd[31mred\ufffd"),
        ("a\u202eb\u2066c\ufeff", "abc"),
        ("\U0001f469\u200d\u2695\ufe0f", "\U0001f469\u2695"),
        ("cafe\u0301", "cafe\u0301"),
        ("\u0301x", "\u25cc\u0301x"),
        ("\ud800", "\ufffd"),
        ("\xad", "\ufffd"),
        ("a\u0600", "a\u0600"),  # encloses Arabic numbers
        ("a\U000e0100", "a"),
        ("\ue000", "\ufffd"),
    ],
)
def test_what_is_printed(text, shown):
    assert printable(text) == shown


def test_right_to_left():
    for text in ("pain \u05db\u05d0\u05d1", "pain \u0623\u0644\u0645", "pain \u0661"):
        assert runs_right_to_left(text)
    assert not runs_right_to_left("pain \u75db")


def test_wide_and_combining_characters():
    columns = columns_of("a\u6f22e\u0301x")
    assert columns.starts == (0, 1, 3, 4, 4, 5)
    assert columns.span((1, 2)) == (1, 3)
    assert columns.span((2, 4)) == (3, 4)
    assert columns.span((3, 4)) == (3, 4)  # the mark alone: the letter that carries it
    assert columns_of("\u6f22\u0301x").span((1, 2)) == (0, 2)
    assert columns_of("\u200dx").span((0, 1)) == (0, 1)  # not shown, and nothing before it


def test_lines_break_at_blanks_and_between_wide_characters():
    columns = columns_of("one two three")
    assert [columns.shown(a, b) for a, b in columns.lines(7)] == ["one two ", "three"]
    columns = columns_of("extraordinary")
    assert [columns.shown(a, b) for a, b in columns.lines(5)] == ["extra", "ordin", "ary"]
    columns = columns_of("ab \u6f22\u6f22\u6f22")
    assert [columns.shown(a, b) for a, b in columns.lines(6)] == ["ab \u6f22", "\u6f22\u6f22"]
    columns = columns_of("ab cde\u6f22\u6f22")
    assert [columns.shown(a, b) for a, b in columns.lines(7)] == ["ab cde", "\u6f22\u6f22"]
    columns = columns_of("\u6f22\u6f22abcdef")
    assert [columns.shown(a, b) for a, b in columns.lines(6)] == ["\u6f22\u6f22", "abcdef"]


@given(TEXTS)
def test_columns_are_those_of_the_terminal(text):
    columns = columns_of(text)
    shown = "".join(columns.cells)
    assert cell_len(shown) == columns.positions[-1] == columns.starts[-1]
    assert len(columns.starts) == len(text) + 1
    assert all(a <= b for a, b in pairwise(columns.starts))
    assert all(
        cell_len(c) == b - a
        for c, (a, b) in zip(columns.cells, pairwise(columns.positions), strict=True)
    )
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert not set(shown) & set(
        "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"
    )


@given(TEXTS, st.integers(2, 20))
def test_lines_are_the_text_and_fit(text, width):
    columns = columns_of(text)
    lines = list(columns.lines(width))
    assert lines[0][0] == 0
    assert lines[-1][1] == columns.positions[-1]
    assert all(a[1] == b[0] for a, b in pairwise(lines))
    assert "".join(columns.shown(*line) for line in lines) == "".join(columns.cells)
    for first, last in lines:
        assert cell_len(columns.shown(first, last)) == last - first
        assert cell_len(columns.shown(first, last).removesuffix(" ")) <= width


@given(TEXTS.filter(bool), st.data())
def test_a_range_of_characters_has_columns(text, data):
    columns = columns_of(text)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    first, last = columns.span((start, end))
    assert 0 <= first < last
    assert last <= max(columns.positions[-1], 1)
