"""Mentions to actions and back: the vectors of the specification, and everything by enumeration."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.transition_naive import every_mention_set, mentions_by, within_six_actions
from trigner.families.transition.oracle import actions_for, derivation, round_trip, static_oracle
from trigner.families.transition.parser import Action, Rules, action_names, mentions_of, replay
from trigner.mentions import Mention

ONE = ("ADR",)
TWO = ("ADR", "Drug")
PAPER = Rules(extended=False)

REPRODUCED = [
    (3, [(0, 2)], "SHIFT OUT SHIFT REDUCE COMPLETE"),
    (4, [(1,)], "OUT SHIFT COMPLETE OUT OUT"),
    (5, [(0, 1), (0, 3)], "SHIFT SHIFT LEFT-REDUCE COMPLETE OUT SHIFT REDUCE COMPLETE OUT"),
    (4, [(0, 1, 2), (1,)], "SHIFT SHIFT RIGHT-REDUCE SHIFT REDUCE COMPLETE COMPLETE OUT"),
    (4, [(0, 1, 2), (0, 1)], "SHIFT SHIFT REDUCE SHIFT LEFT-REDUCE COMPLETE COMPLETE OUT"),
    (
        7,
        [(1, 2), (1, 4, 5, 6)],
        "OUT SHIFT SHIFT LEFT-REDUCE COMPLETE OUT SHIFT REDUCE SHIFT REDUCE SHIFT REDUCE COMPLETE",
    ),
    (
        11,
        [(1, 6), (3, 6), (5, 6)],
        "OUT SHIFT OUT SHIFT OUT SHIFT SHIFT RIGHT-REDUCE COMPLETE RIGHT-REDUCE COMPLETE"
        " REDUCE COMPLETE OUT OUT OUT OUT",
    ),
]
CROSSING = [(0, 2, 4), (1, 2, 5)]
PRODUCT = [(0, 3, 4, 5), (0, 3, 4, 7, 8), (2, 3, 4, 7, 8), (2, 3, 4, 5)]


def of(*words, label="ADR"):
    return [Mention(each, label) for each in words]


def named(actions, labels=ONE):
    names = action_names(labels)
    return [names[action].removesuffix("-ADR") for action in actions]


def found_by(actions, length, labels=ONE):
    return mentions_by([action_names(labels)[a] for a in actions], length, labels)


@pytest.mark.parametrize(("length", "gold", "actions"), REPRODUCED)
@pytest.mark.parametrize("oracle", [static_oracle, actions_for])
def test_both_oracles_give_the_actions_of_the_specification(oracle, length, gold, actions):
    found = oracle(of(*gold), length, ONE)
    assert named(found) == actions.split()
    assert mentions_of(replay(found, length, PAPER), ONE) == set(of(*gold))


def test_the_static_oracle_loses_what_crosses():
    actions = static_oracle(of(*CROSSING), 6, ONE)
    assert " ".join(named(actions)) == "SHIFT SHIFT SHIFT RIGHT-REDUCE OUT SHIFT SHIFT"
    assert found_by(actions, 6)[0] == set()
    found, _ = found_by(static_oracle(of(*PRODUCT), 10, ONE), 10)
    assert {words for words, _ in found} == {(2, 3, 4, 5), (2, 3, 4, 7, 8)}


@pytest.mark.parametrize(("length", "gold"), [(6, CROSSING), (10, PRODUCT)])
def test_swap_and_copy_find_what_crosses(length, gold):
    actions = actions_for(of(*gold), length, ONE)
    assert found_by(actions, length) == ({(words, "ADR") for words in gold}, [])
    assert Action.SWAP in actions


SHARED_ON_BOTH_SIDES = [(0, 1, 5), (0, 3, 5)]
PAIRS = [(0, 2), (0, 3), (1, 2), (1, 3)]


@pytest.mark.parametrize("gold", [CROSSING, SHARED_ON_BOTH_SIDES, PAIRS, PRODUCT])
def test_no_sequence_of_the_paper_s_actions_finds_these(gold):
    assert not within_six_actions(gold, 10)
    assert within_six_actions(gold[:1], 10)
    assert not derivation(of(*gold), 10, ONE, Rules()).lost


@pytest.mark.parametrize(("length", "gold", "actions"), REPRODUCED)
def test_the_search_finds_what_the_paper_s_oracle_does(length, gold, actions):
    assert within_six_actions(gold, length)


def test_equal_words_of_two_types_are_copied():
    gold = [Mention((1,), "ADR"), Mention((1,), "Drug")]
    assert named(actions_for(gold, 2, TWO), TWO) == [
        *("OUT", "SHIFT", "COPY", "COMPLETE", "COMPLETE-Drug")
    ]
    assert len(derivation(gold, 2, TWO, Rules(2, extended=False)).lost) == 1


def test_types_of_overlapping_mentions_may_differ():
    gold = [Mention((0, 1), "ADR"), Mention((0, 3), "Drug"), Mention((1,), "Drug")]
    assert round_trip(TWO, Rules(2), gold, 4) == (set(gold), True)


def test_words_that_are_shared_on_the_right_are_merged_first():
    actions = named(actions_for(of((0, 5, 6), (2, 5, 6)), 7, ONE))
    assert " ".join(actions) == (
        "SHIFT OUT SHIFT OUT OUT SHIFT SHIFT REDUCE RIGHT-REDUCE COMPLETE REDUCE COMPLETE"
    )


@pytest.mark.parametrize(("length", "labels", "most"), [(4, ONE, 3), (3, TWO, 3), (2, TWO, 6)])
def test_every_small_set_of_mentions_comes_back(length, labels, most):
    for chosen in every_mention_set(length, labels, most):
        gold = [Mention(*pair) for pair in chosen]
        rules = Rules(len(labels))
        found = derivation(gold, length, labels, rules)
        assert not found.lost
        assert found_by(found.actions, length, labels) == (set(chosen), [])


class Unbounded(Rules):
    """Any number of SWAP and COPY."""

    def bound(self, length):
        return 10_000


WORDS = st.sets(st.integers(0, 11), min_size=1, max_size=6).map(lambda w: tuple(sorted(w)))
GOLD = st.sets(st.builds(Mention, WORDS, st.sampled_from(TWO)), max_size=6)


@given(GOLD)
def test_every_set_of_mentions_comes_back_or_is_counted(gold):
    for rules in (Rules(2), Rules(2, extended=False)):
        found = derivation(gold, 12, TWO, rules)
        back, left = found_by(found.actions, 12, TWO)
        assert back == {(m.words, m.label) for m in found.mentions}
        assert not left
        assert set(found.mentions) | set(found.lost) == gold
        assert not set(found.mentions) & set(found.lost)
        if rules.extended and found.lost:  # to the bound alone
            actions = actions_for(sorted(gold), 12, TWO)
            assert sum(own in (Action.COPY, Action.SWAP) for own in actions) > rules.bound(12)


@given(GOLD)
def test_without_the_bound_every_set_of_mentions_comes_back(gold):
    assert not derivation(gold, 12, TWO, Unbounded(2)).lost


@given(st.lists(st.integers(1, 3), min_size=1, max_size=4))
def test_the_paper_loses_nothing_that_is_flat(sizes):
    starts = [sum(sizes[:i]) + i for i in range(len(sizes))]
    gold = of(*(tuple(range(a, a + n)) for a, n in zip(starts, sizes, strict=True)))
    assert round_trip(ONE, PAPER, gold, sum(sizes) + len(sizes))[0] == set(gold)


@given(WORDS)
def test_the_paper_loses_no_single_mention(words):
    assert not derivation(of(words), 12, ONE, PAPER).lost


def test_a_mention_that_was_given_twice_comes_back_once():
    assert derivation(of((0,), (0,)), 1, ONE, Rules()).mentions == (Mention((0,), "ADR"),)


def test_what_needs_more_than_the_bound_of_swaps_is_counted():
    class Bounded(Rules):
        def bound(self, length):
            return 1

    found = derivation(of(*PRODUCT), 10, ONE, Bounded())
    assert found.lost
    assert len(found.mentions) + len(found.lost) == 4
    assert round_trip(ONE, Bounded(), of(*PRODUCT), 10) == (set(found.mentions), False)


def test_400_words_that_are_all_shared_end_in_time():
    """A hundred mentions with one head: what a list of symptoms looks like."""
    gold = of(*((0, 3 * n + 1, 3 * n + 2) for n in range(100)))
    trip = partial(round_trip, ONE, Rules())
    assert trip(gold, 400) == (set(gold), True)
