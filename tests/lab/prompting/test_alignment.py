from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import alignment_naive
from trigner.lab.prompting.alignment import REPAIRS, align, find_text, matches_text, tokens
from trigner.lab.prompting.parsing import Item

MOTION = [f"w{i}" for i in range(30)] + [
    "loss",
    "of",
    "range",
    "of",
    "motion",
    "in",
    "both",
    "arms",
    ".",
]
LEGS = ["in", "my", "view", "the", "pain", "in", "my", "legs", ",", "the", "legs"]


def by_repair(item, words):
    return {repair: align(item, words, repair) for repair in REPAIRS}


def test_two_indices_that_are_no_interval_of_the_text():
    found = by_repair(Item((32, 36), "loss of range of motion", "ADR"), MOTION)
    assert found == {
        "strict": (32, 36),
        "range": (32, 36),
        "shift": (32, 36),
        "text": (30, 31, 32, 33, 34),
    }


def test_all_indices_one_off():
    found = by_repair(Item((31, 32, 33, 34, 35), "loss of range of motion", "ADR"), MOTION)
    assert found["strict"] == found["range"] == (31, 32, 33, 34, 35)
    assert found["shift"] == found["text"] == (30, 31, 32, 33, 34)


@pytest.mark.parametrize("offset", [-2, -1, 1, 2])
def test_offsets_that_are_mended(offset):
    item = Item(tuple(i + offset for i in (30, 34)), "loss motion", "ADR")
    assert align(item, MOTION, "shift") == (30, 34)


def test_an_offset_of_three_is_not():
    assert align(Item((33, 37), "loss motion", "ADR"), MOTION, "shift") == (33, 37)


def test_the_ends_of_an_interval():
    found = by_repair(Item((30, 34), "Loss of Range of motion", "ADR"), MOTION)
    assert found["strict"] == found["shift"] == (30, 34)
    assert found["range"] == found["text"] == (30, 31, 32, 33, 34)


def test_indices_that_spell_the_text_stay():
    item = Item((30, 33, 34), "loss of motion", "ADR")
    assert by_repair(item, MOTION) == dict.fromkeys(REPAIRS, (30, 33, 34))


def test_a_comma_between_two_words_is_no_interval_of_theirs():
    words = ["pain", ",", "arm"]
    assert by_repair(Item((0, 2), "pain arm", "ADR"), words) == dict.fromkeys(REPAIRS, (0, 2))
    found = by_repair(Item((0, 2), "pain , arm", "ADR"), words)
    assert found["strict"] == found["shift"] == (0, 2)
    assert found["range"] == found["text"] == (0, 1, 2)
    assert align(Item((0, 3), "pain leg arm", "ADR"), ["pain", ",", "leg", "arm"], "range") == (
        0, 1, 2, 3,
    )  # fmt: skip


def test_of_repeated_words_the_nearest_count():
    assert align(Item((4, 6, 7), "pain in legs", "ADR"), LEGS, "text") == (4, 5, 7)
    assert align(Item((4, 5, 9), "pain in legs", "ADR"), LEGS, "text") == (4, 5, 10)
    assert align(Item(None, "pain in legs", "ADR"), LEGS, "text") == (4, 5, 7)
    assert align(Item((1,), "in", "ADR"), LEGS, "text") == (0,)


def test_without_a_text_nothing_is_mended():
    assert by_repair(Item((3, 5), None, "ADR"), LEGS) == dict.fromkeys(REPAIRS, (3, 5))
    assert by_repair(Item(None, None, "ADR"), LEGS) == dict.fromkeys(REPAIRS, None)


def test_indices_are_sorted_and_kept_once():
    assert align(Item((7, 4, 7), "x", "ADR"), LEGS, "strict") == (4, 7)


@pytest.mark.parametrize("indices", [(4, 11), (-1, 4), None])
def test_outside_the_sentence_only_the_text_helps(indices):
    found = by_repair(Item(indices, "Pain", "ADR"), LEGS)
    assert found == {"strict": None, "range": None, "shift": None, "text": (4,)}
    assert align(Item(indices, "rash", "ADR"), LEGS, "text") is None


def test_words_of_several_pieces_and_punctuation():
    words = ["COVID-19", "(", "mild", ")", ",", "don't"]
    assert find_text(words, "covid-19 mild", ()) == (0, 2)
    assert find_text(words, "mild )", ()) == (2, 3)
    assert find_text(words, "mild.", ()) == (2,)
    assert find_text(words, "don't", ()) == (5,)
    assert find_text(words, "covid", ()) is None
    assert find_text(words, "!", ()) is None
    assert matches_text(words, (0, 2), "COVID-19 ... mild")
    assert not matches_text(words, (0,), "")


def test_order_counts():
    assert find_text(LEGS, "legs pain", ()) is None


def test_a_text_of_nothing_but_repetitions_is_quick():
    words = ["a"] * 400
    assert find_text(words, " ".join(["a"] * 40), (380,)) == tuple(range(360, 400))


@given(
    st.lists(st.sampled_from(["a", "b", "A", "a-b", ",", ""]), max_size=7),
    st.lists(st.sampled_from(["a", "b", "a-b", ",", "-"]), min_size=1, max_size=4),
    st.lists(st.integers(-2, 8), max_size=3),
)
def test_spelling_is_that_of_the_oracle(words, text, near):
    text = " ".join(text)
    found = find_text(words, text, near)
    assert found == alignment_naive.find_text(words, text, near)
    if found is not None:
        assert matches_text(words, found, text)


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=8),
    st.one_of(st.none(), st.lists(st.integers(-2, 9), min_size=1, max_size=4).map(tuple)),
    st.one_of(st.none(), st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(" ".join)),
)
def test_what_is_found_are_words_of_the_sentence(words, indices, text):
    item = Item(indices, text, None)
    for repair in REPAIRS:
        found = align(item, words, repair)
        if found is None:
            assert indices is None or not all(0 <= i < len(words) for i in indices)
        else:
            assert list(found) == sorted(set(found))
            assert 0 <= found[0] <= found[-1] < len(words)
    if text is not None and find_text(words, text, ()):
        chosen = align(item, words, "text")
        assert tokens(" ".join(words[i] for i in chosen)) == tokens(text)
