"""What is legal, and what each action does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.transition_naive import mentions_by
from trigner.families.transition.parser import (
    REDUCTIONS,
    Action,
    Rules,
    State,
    action_names,
    after,
    replay,
    words_of,
)

LABELS = ("ADR", "Drug")
RULES = [Rules(2), Rules(2, extended=False), Rules(1), Rules(2, overlapping=True)]


def legal(state, length, rules=RULES[1]):
    return {a for a in range(Action.COMPLETE + rules.types) if rules.allows(state, length, a)}


def test_an_empty_stack_allows_reading_only():
    assert legal(State(), 3, Rules(2)) == {Action.SHIFT, Action.OUT}
    assert legal(State(), 0, Rules(2)) == set()


def test_an_empty_buffer_allows_no_reading():
    state = replay([Action.SHIFT, Action.SHIFT], 2, RULES[1])
    assert legal(state, 2) == {*REDUCTIONS, Action.COMPLETE, Action.COMPLETE + 1}


@pytest.mark.parametrize("reduction", [Action.LEFT_REDUCE, Action.RIGHT_REDUCE])
@pytest.mark.parametrize("rules", RULES)
def test_no_reduction_follows_one_that_keeps_a_part(reduction, rules):
    state = replay([Action.SHIFT, Action.SHIFT, reduction], 3, rules)
    assert not legal(state, 3, rules) & set(REDUCTIONS)


def test_nodes_that_share_words_are_reduced_by_the_released_code_alone():
    actions = [Action.SHIFT, Action.SHIFT, Action.LEFT_REDUCE, Action.OUT]
    state = replay(actions, 4, RULES[0])
    assert not legal(state, 4, Rules(2)) & set(REDUCTIONS)
    assert legal(state, 4, Rules(2, overlapping=True)) >= set(REDUCTIONS)
    assert replay([*actions, Action.REDUCE], 4, RULES[3]).stack.node.words == 0b11


def test_the_last_node_of_one_type_is_completed_without_a_choice():
    state = replay([Action.OUT, Action.SHIFT], 2, Rules(1))
    assert legal(state, 2, Rules(1)) == {Action.COMPLETE}


def test_what_was_swapped_is_read_again_and_cannot_be_dropped():
    state = replay([Action.SHIFT] * 3 + [Action.SWAP], 4, Rules(1))
    assert [words_of(node.words) for node in state.returned] == [(1,)]
    assert Action.OUT not in legal(state, 4, Rules(1))
    # Not at once: the two would exchange nodes for ever.
    assert legal(state, 4, Rules(1)) == {Action.COMPLETE, *REDUCTIONS, Action.COPY}
    assert Action.SHIFT in legal(after(state, Action.REDUCE), 4, Rules(1))
    assert after(state, Action.SHIFT).stack.node.word == 1


def test_an_illegal_action_is_refused(refused):
    with refused(error=ValueError):
        replay([Action.REDUCE], 2, Rules(1))
    with refused(error=ValueError):
        after(State(), Action.COMPLETE)
    with refused(error=ValueError):
        after(replay([Action.SHIFT], 1, Rules(1)), Action.SWAP)


@given(st.data(), st.integers(0, 9), st.sampled_from(RULES))
def test_any_legal_sequence_ends_and_agrees_with_the_plain_parser(data, length, rules):
    state, taken = State(), []
    bound = 7 * (length + rules.bound(length)) + 1
    while options := sorted(legal(state, length, rules)):
        # Of the largest options come SWAP, COPY and COMPLETE: those that could go on for ever.
        action = data.draw(st.sampled_from(options)) if len(taken) < 40 else options[-1]
        taken.append(action)
        state = after(state, action)
        assert len(taken) <= bound
        if state.stack is not None:
            below = state.stack.below
            assert state.stack.height == 1 + (0 if below is None else below.height)
    names = action_names(LABELS[: rules.types])
    found, stack = mentions_by([names[a] for a in taken], length, LABELS)
    assert {(words_of(f.words), LABELS[f.label]) for f in state.found} == found
    assert not stack
    assert state.steps == len(taken)


def test_a_mention_names_the_steps_that_made_it():
    actions = [Action.SHIFT, Action.SHIFT, Action.LEFT_REDUCE, Action.COMPLETE]
    state = replay([*actions, Action.OUT, Action.SHIFT, Action.REDUCE, Action.COMPLETE], 4, Rules())
    assert [found.steps for found in state.found] == [(0, 1, 2, 3), (0, 5, 6, 7)]
