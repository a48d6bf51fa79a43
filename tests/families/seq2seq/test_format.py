"""Mentions become outputs and come back."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.families.seq2seq.format import Format
from trigner.families.seq2seq.settings import Seq2SeqSettings
from trigner.mentions import Mention

T = 2  # the only type
REPRESENTATIONS = ("word", "span", "bpe")
LABELS = ("ADR", "Drug")


def pointers_and_types(tokens, words):
    """Tokens as the spec writes them: words as numbers, the type as T, without `END`."""
    assert tokens[-1] == 1
    return ["T" if t == T else words(t - 3) for t in tokens[:-1]]


MENTIONS = st.lists(
    st.builds(
        lambda words, label: Mention(tuple(sorted(words)), label),
        st.sets(st.integers(0, 7), min_size=1),
        st.sampled_from(LABELS),
    ),
    max_size=6,
)


@pytest.mark.parametrize(
    ("representation", "words", "expected"),
    [
        ("word", lambda u: u, [1, 2, "T", 1, 4, 5, 6, "T"]),
        ("bpe", lambda u: u, [1, 2, "T", 1, 4, 5, 6, "T"]),
        ("span", lambda u: u // 2, [1, 2, "T", 1, 1, 4, 6, "T"]),
    ],
)
def test_the_three_representations(representation, words, expected):
    format = Format(("ADR",), representation)
    mentions = [Mention((1, 4, 5, 6), "ADR"), Mention((1, 2), "ADR")]
    encoded = format.encode(mentions, format.point([1] * 8))
    assert pointers_and_types(encoded.tokens, words) == expected


def test_pointers_are_mapped_to_subwords_of_their_words():
    counts = [1, 3, 0, 2]
    targets = {
        "word": [(0, 0), (1, 0), (2, 0), (3, 0)],
        "span": [(0, 0), (0, 0), (1, 0), (1, 2), (2, 0), (2, 0), (3, 0), (3, 1)],
        "bpe": [(0, 0), (1, 0), (1, 1), (1, 2), (2, 0), (3, 0), (3, 1)],
    }
    for representation, expected in targets.items():
        known = Format(("ADR",), representation).point(counts)
        assert list(zip(known.word.tolist(), known.column.tolist(), strict=True)) == expected


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@given(mentions=MENTIONS, counts=st.lists(st.integers(0, 4), min_size=8, max_size=8))
def test_every_set_of_mentions_comes_back(representation, mentions, counts):
    format = Format(LABELS, representation)
    pointers = format.point(counts)
    encoded = format.encode(mentions, pointers, limit=1000)
    decoded = format.decode(encoded.tokens, pointers)
    assert [m for m, _ in decoded.mentions] == sorted(set(mentions))
    assert (encoded.lost, decoded.dropped) == ((), 0)
    for mention, (start, stop) in decoded.mentions:
        own = format.encode([mention], pointers, limit=1000).tokens[:-1]
        assert encoded.tokens[start:stop] == own


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@given(mentions=MENTIONS, limit=st.integers(1, 20))
def test_what_has_no_room_is_lost_and_said_so(representation, mentions, limit):
    format = Format(LABELS, representation)
    pointers = format.point([1] * 8)
    encoded = format.encode(mentions, pointers, limit=limit)
    assert len(encoded.tokens) <= limit
    back = [m for m, _ in format.decode(encoded.tokens, pointers).mentions]
    assert sorted([*back, *encoded.lost]) == sorted(set(mentions))


@pytest.mark.parametrize(
    ("tokens", "words", "dropped"),
    [
        ([3, 4, T, 1], [(0, 1)], 0),
        ([4, 3, T, 3, T, 1], [(0,)], 1),  # not increasing
        ([3, 3, T, 1], [], 1),
        ([T, 3, T, 1], [(0,)], 1),  # empty
        ([3, T, 4, 5, 1], [(0,)], 1),  # no type behind the last pointers
        ([3, T, 1, 4, T, 1], [(0,)], 0),  # behind the end
        ([3, T], [(0,)], 0),  # cut off
    ],
)
def test_malformed_groups_are_dropped_and_counted(tokens, words, dropped):
    format = Format(("ADR",))
    decoded = format.decode(tokens, format.point([1] * 4))
    assert [m.words for m, _ in decoded.mentions] == words
    assert decoded.dropped == dropped


@pytest.mark.parametrize("pointers", [[0], [0, 2], [0, 3, 3, 5], [1, 2], [4, 3]])
def test_malformed_spans_are_dropped(pointers):
    format = Format(("ADR",), "span")
    decoded = format.decode([*(3 + u for u in pointers), T, 1], format.point([1] * 4))
    assert (decoded.mentions, decoded.dropped) == ((), 1)


def test_a_word_that_lacks_a_subword_is_dropped():
    format = Format(("ADR",), "bpe")
    pointers = format.point([2, 1])
    assert format.decode([3, T, 1], pointers).dropped == 1
    assert [m.words for m, _ in format.decode([3, 4, T, 1], pointers).mentions] == [(0,)]


def test_shuffled_mentions_come_in_any_order():
    format = Format(("ADR",), order="shuffled")
    mentions = [Mention((w,), "ADR") for w in range(4)]
    pointers = format.point([1] * 4)
    drawn = {
        format.encode(mentions, pointers, shuffle=random.Random(seed)).tokens for seed in range(30)
    }
    assert len(drawn) > 10
    for tokens in drawn:
        assert sorted(m for m, _ in format.decode(tokens, pointers).mentions) == mentions


def test_what_is_not_of_the_sentence_is_refused(refused):
    format = Format(("ADR",))
    with refused(error=ValueError):
        format.encode([Mention((5,), "ADR")], format.point([1] * 5))
    with refused(error=ValueError):
        format.encode([Mention((0,), "Dose")], format.point([1] * 5))


def test_the_limit_is_that_of_the_settings():
    format = Format.of(["ADR"], Seq2SeqSettings(length_base=3, length_ratio=1.5))
    assert format.limit(format.point([1, 4, 1])) == 7
    bpe = Format.of(["ADR"], Seq2SeqSettings(length_base=3, length_ratio=1.5, pointers="bpe"))
    assert bpe.limit(bpe.point([1, 4, 1])) == 12


def test_the_round_trip_says_when_there_was_no_room():
    format = Format(("ADR",), length_base=2, length_ratio=0.5)
    back, complete = format.round_trip([Mention((0,), "ADR"), Mention((1, 3), "ADR")], 4)
    assert (back, complete) == ([Mention((0,), "ADR")], False)
    assert Format(("ADR",)).round_trip([Mention((0, 2), "ADR")], 3) == (
        [Mention((0, 2), "ADR")],
        True,
    )
