"""Word ranges: nothing lost, any script, and the rules one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.text.words import word_ranges

ALPHABET = (
    "aB7.,-_ \t\r\n\x00\x1b\u00ad\u200b\u200d\ufeff\u0301\u05d0頭ก😀\U0001f3fd\U0001f1e9\ud800"
)


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in word_ranges(text)]


@given(st.text() | st.text(alphabet=ALPHABET))
def test_words_are_all_that_is_not_white_space(text: str) -> None:
    ranges = word_ranges(text)
    covered = [index for start, end in ranges for index in range(start, end)]
    assert covered == [index for index, letter in enumerate(text) if not letter.isspace()]
    assert all(start < end for start, end in ranges)


@given(st.text(alphabet=ALPHABET), st.text(alphabet=ALPHABET))
def test_words_depend_on_their_own_stretch_alone(left: str, right: str) -> None:
    assert words(f"{left} {right}") == words(left) + words(right)


@given(st.lists(st.sampled_from(["a", "b", "7", "1.5", "😀", "頭", "🇩🇪", "👍👍👍", ".", " "])))
def test_a_combining_character_stays_with_its_base(pieces: list[str]) -> None:
    marked = "".join(piece if piece == " " else piece + "\u0301" for piece in pieces)
    assert not any(word.startswith("\u0301") for word in words(marked))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("non-serious rash (5 %).", "non|-|serious|rash|(|5|%|)|."),
        ("58.4% of 1,000", "58.4|%|of|1,000"),
        ("fell 2.5mg 5mg 3.A", "fell|2.5|mg|5mg|3|.|A"),
        ("patient_7", "patient|_|7"),
        ("coughCough seeSection NOTESection", "cough|Cough|see|Section|NOTE|Section"),
        ("NSAIDs mmHg pH McArdle HIVs", "NSAIDs|mmHg|pH|McArdle|HIVs"),
        ("MRIScan MRIDay", "MRI|Scan|MRIDay"),
        ("wait... ----- ..", "wait|...|-----|.|."),
        ("\x00\x00\x00a\x00", "\x00\x00\x00|a|\x00"),
        ("itchy\u200bskin \ufeffrash so\u00adre", "itchy|\u200b|skin|\ufeff|rash|so\u00adre"),
        ("👍🏽👩\u200d⚕️❤️🇩🇪🇫🇷", "👍🏽|👩\u200d⚕️|❤️|🇩🇪|🇫🇷"),
        ("👍👍👍🏽 1.5\u0301 🇩🇪\u0301", "👍👍👍🏽|1.5\u0301|🇩🇪\u0301"),
        ("cafe\u0301 दर्द שָׁלוֹם", "cafe\u0301|दर्द|שָׁלוֹם"),
        ("头痛 กำลัง", "头|痛|ก|ำ|ลั|ง"),
        ("\uf900\uf901 \u1780\u1781", "\uf900|\uf901|\u1780|\u1781"),
        ("\U00020000\U00020001 \u845b\U000e0100", "\U00020000|\U00020001|\u845b\U000e0100"),
        ("\u0645\u200c\u062e so\u2060re", "\u0645\u200c\u062e|so\u2060re"),
        ("🏴\U000e0067\U000e0062\U000e007f🏴", "🏴\U000e0067\U000e0062\U000e007f|🏴"),
        ("sore\r\nthroat\u00a0now", "sore|throat|now"),
    ],
)
def test_rules(text: str, expected: str) -> None:
    assert words(text) == expected.split("|")


def test_number_of_words_grows_with_the_text_alone() -> None:
    """One pass: patterns that backtrack would not end on these."""
    for piece in ("1.", "a", ".", "\u200d", "😀\u200d", "1,1a", "aaaB"):
        assert word_ranges(piece * 100_000)[-1][1] == len(piece) * 100_000
