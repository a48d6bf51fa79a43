from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import bm25_naive
from trigner.lab.prompting.few_shot import K1, B, Bm25, few_shot_examples
from trigner.lab.prompting.sampling import stratum
from trigner.mentions import Mention, Sentence

APART, TOGETHER = (Mention((0, 2), "A"),), (Mention((0, 1), "A"),)


def sentence(number, mentions, length=6):
    words = tuple(f"w{number}x{i}" for i in range(length))
    return Sentence("train", number, words, (), mentions)


TRAIN = [sentence(n, m) for n, m in enumerate([APART] * 5 + [TOGETHER] * 5 + [()] * 5)] + [
    sentence(99, APART, 4),
    sentence(98, APART, 41),
]
ASKED = Sentence("test", 0, ("a", "b", "c", "d", "e"), (), ())


def test_fixed_examples_are_of_each_kind_in_turn_and_the_same_for_all():
    for shots, kinds in ((0, []), (1, [0]), (2, [0, 1]), (3, [0, 1, 2]), (5, [0, 0, 1, 1, 2])):
        chosen = few_shot_examples(TRAIN, shots, "fixed")(ASKED)
        assert [stratum(s) for s in chosen] == kinds
    one, two = (few_shot_examples(TRAIN, n, "fixed")(ASKED) for n in (1, 2))
    assert two[0] == one[0]


def test_seeds_draw_other_examples():
    assert len({few_shot_examples(TRAIN, 2, "fixed", seed=seed)(ASKED) for seed in range(9)}) > 1


@pytest.mark.parametrize("choice", ["fixed", "similar"])
def test_a_text_is_never_its_own_example(choice):
    examples_of = few_shot_examples(TRAIN, 2, choice)
    for one in TRAIN:
        chosen = examples_of(one)
        assert len(chosen) == 2
        assert one.words not in [example.words for example in chosen]


@pytest.mark.parametrize("choice", ["fixed", "similar"])
def test_sentences_too_short_or_long_are_no_examples(choice, refused):
    with refused():
        few_shot_examples([TRAIN[0], *TRAIN[-2:]], 2, choice)(ASKED)


def test_similar_ones_share_rare_words_and_have_mentions():
    def of(number, text, mentions=APART):
        return Sentence("train", number, tuple(text.split()), (), mentions)

    train = [
        of(0, "the pain in the legs"),
        of(1, "the rash on the arms"),
        of(2, "a Rash on hands today", ()),
        of(3, "the heart of the matter"),
    ]
    asked = Sentence("test", 0, ("a", "rash", "on", "the", "back"), (), ())
    examples_of = few_shot_examples(train, 2, "similar")
    assert examples_of(asked)[0] == train[1]
    assert train[2] not in few_shot_examples(train, 3, "similar")(asked)


@given(
    st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=6), min_size=1, max_size=6),
    st.lists(st.sampled_from("abcdef"), max_size=5),
)
def test_the_ranking_is_that_of_the_formula(texts, query):
    expected = bm25_naive.scores(texts, query, K1, B)
    order = Bm25(texts).best(query, len(texts))
    assert sorted(order) == list(range(len(texts)))
    ranked = [expected[text] for text in order]
    assert ranked == pytest.approx(sorted(expected, reverse=True))


def test_case_makes_no_difference_and_equals_keep_their_order():
    index = Bm25([["PAIN", "x"], ["rash", "x"], ["pain", "x"]])
    assert index.best(["Pain"], 3) == [0, 2, 1]
    assert Bm25([]).best(["a"], 3) == []
