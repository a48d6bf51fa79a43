"""The automaton allows the well-formed outputs and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.pointers_naive import all_mentions, increasing_outputs, written
from trigner.families.seq2seq.automaton import END, OutputAutomaton, State
from trigner.families.seq2seq.format import Format
from trigner.families.seq2seq.pointers import point

REPRESENTATIONS = ("word", "span", "bpe")


def prefixes(outputs):
    """All beginnings, each with the tokens that follow it in some output."""
    following: dict[tuple[int, ...], set[int]] = {}
    for tokens in outputs:
        for n, token in enumerate(tokens):
            following.setdefault(tokens[:n], set()).add(token)
    return following


def state_behind(automaton, tokens):
    state = State()
    for token in tokens:
        state = automaton.after(state, token)
    return state


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize(
    ("counts", "labels", "most"),
    [
        ([1], "AB", 2),
        ([1, 2], "AB", 6),
        ([1, 1, 1], "A", 7),
        ([2, 0, 3], "AB", 3),
        ([1, 2, 1, 1], "A", 3),
        ([1, 1, 1, 1], "AB", 2),
        ([1, 1, 2, 1, 1], "A", 2),
    ],
)
def test_it_allows_what_increasing_outputs_continue_with(representation, counts, labels, most):
    """`most` mentions: with as many already written, only what follows them is unknown."""
    outputs = list(increasing_outputs(len(counts), labels, counts, representation, most))
    automaton = OutputAutomaton(point(representation, counts), len(labels))
    types = range(2, 2 + len(labels))
    for tokens, following in prefixes(outputs).items():
        if sum(token in types for token in tokens) >= most:
            continue
        allowed = automaton.allowed(state_behind(automaton, tokens))
        assert set(np.flatnonzero(allowed).tolist()) == following, tokens


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_without_an_order_any_mention_may_follow(representation):
    counts, labels = [1, 2, 1], "AB"
    mentions = [written(m, labels, counts, representation) for m in all_mentions(3, labels)]
    automaton = OutputAutomaton(point(representation, counts), len(labels), increasing=False)
    following = prefixes([(*a, *b, END) for a in mentions for b in mentions] + [(END,)])
    for tokens in following:
        if sum(token in (2, 3) for token in tokens) == 2:
            continue
        expected = following[tokens] | ({END} if tokens and tokens[-1] in (2, 3) else set())
        allowed = automaton.allowed(state_behind(automaton, tokens))
        assert set(np.flatnonzero(allowed).tolist()) == expected


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@given(data=st.data())
def test_any_walk_decodes_to_all_that_was_written(representation, data):
    counts = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=12))
    format = Format(("A", "B", "C"), representation)
    pointers = format.point(counts)
    automaton = format.automaton(pointers)
    tokens: list[int] = []
    state = State()
    while not state.ended and len(tokens) < 60:
        allowed = np.flatnonzero(automaton.allowed(state)).tolist()
        assert allowed, "from every state that is reached, something may come"
        token = data.draw(st.sampled_from(allowed))
        tokens.append(token)
        state = automaton.after(state, token)
    assert automaton.accepts(tokens)
    decoded = format.decode(tokens, pointers)
    found = [m for m, _ in decoded.mentions]
    assert found == sorted(set(found))
    assert decoded.dropped == bool(state.open)
    if state.ended:
        assert format.encode(found, pointers, limit=1000).tokens == tuple(tokens)


def test_what_is_not_well_formed_is_not_accepted():
    automaton = OutputAutomaton(point("word", [1, 1, 1]), 1)
    assert automaton.accepts([3, 4, 2, 4, 2, END])
    for tokens in ([2], [3, END], [4, 3], [4, 2, 3], [3, 2, 3, 2], [END, END], [99], [-1]):
        assert not automaton.accepts(tokens)


def test_a_sentence_without_words_has_one_output():
    automaton = OutputAutomaton(point("word", []), 2)
    assert np.flatnonzero(automaton.allowed(State())).tolist() == [END]


def test_masks_along_an_output_are_those_of_its_states():
    automaton = OutputAutomaton(point("span", [1, 1, 1]), 2)
    tokens = [4, 5, 2, 4, 5, 3, END]
    masks = automaton.along(tokens)
    assert [mask[token] for mask, token in zip(masks, tokens, strict=True)] == [True] * 7
    assert not masks[5][2], "the same mention again"
