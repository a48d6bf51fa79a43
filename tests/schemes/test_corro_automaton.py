from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest

from oracles import automaton_naive
from trigner.schemes.corro_automaton import KINDS, corro_grammar, tag_of

GRAMMAR = corro_grammar(("A",))


def is_well_formed(tags):
    """By the words of the rules, not by states; tags are numbers, 0 outside."""
    names = ["O" if tag == 0 else KINDS[tag - 1] for tag in tags]
    sets, current = [], None
    before = "O"
    for name in names:
        if name.startswith("DB"):
            current = [(name[-1], 0, 1)]  # type, words before it, words
            sets.append(current)
            width = 1
        elif name.startswith("DI"):
            if current is None:
                return False
            if name == "DI-O":
                pass
            elif name.startswith("DI-B"):
                current.append((name[-1], width, 1))
            else:
                kind, start, size = current[-1]
                if kind != name[-1] or start + size != width:
                    return False
                current[-1] = (kind, start, size + 1)
            width += 1
        else:
            if name == "CI" and before not in ("CB", "CI"):
                return False
            if before == "DI-O":
                return False
            current = None
        if name.startswith("DB") and before == "DI-O":
            return False
        before = name
    if before == "DI-O":
        return False
    return all(map(is_set, sets))


def is_set(components):
    touching = [a[1] + a[2] == b[1] for a, b in pairwise(components)]
    if {kind for kind, _, _ in components} != {"x", "y"}:
        return False
    return not (len(components) == 2 and all(touching))


def test_thirteen_states_and_fifty_eight_arcs():
    assert len(GRAMMAR.automaton.states) == 13
    assert len(GRAMMAR.automaton.arcs) == 58
    assert len(GRAMMAR.tags) == 10
    finals = {GRAMMAR.automaton.states[n] for n in GRAMMAR.automaton.finals}
    assert finals == {"S", "C-A", "Fx-A", "Fy-A"}


@pytest.mark.parametrize("length", range(1, 5))
def test_the_automaton_accepts_what_the_rules_allow(length):
    for tags in product(range(10), repeat=length):
        assert GRAMMAR.automaton.accepts(tags) == is_well_formed(tags), tags


@pytest.mark.parametrize(
    ("length", "number"), [(1, 2), (2, 5), (3, 21), (4, 116), (5, 631), (6, 3239)]
)
def test_how_many_sequences_are_well_formed(length, number):
    assert len(automaton_naive.accepted(GRAMMAR.automaton, length)) == number
    without = np.zeros((length, 10))
    found = GRAMMAR.automaton.distribution(without).log_partition
    assert found == pytest.approx(math.log(number))


@pytest.mark.parametrize("length", [1, 3, 6])
def test_without_scores_a_marginal_is_a_relative_frequency(length):
    sequences = [tags for tags, _ in automaton_naive.accepted(GRAMMAR.automaton, length)]
    counts = np.zeros((length, 10))
    for tags in sequences:
        counts[range(length), tags] += 1
    found = GRAMMAR.automaton.distribution(np.zeros((length, 10))).marginals
    np.testing.assert_allclose(found, counts / len(sequences), atol=1e-12)


@pytest.mark.parametrize("labels", [1, 2, 5])
def test_types_are_copies_that_share_the_state_outside(labels):
    grammar = corro_grammar(tuple("ABCDE"[:labels]))
    assert len(grammar.automaton.states) == 1 + 12 * labels
    assert len(grammar.automaton.arcs) == (3 * labels + 1) ** 2 + 42 * labels
    assert len(grammar.tags) == 1 + 9 * labels


def test_exchanging_and_going_on_keep_to_the_label():
    grammar = corro_grammar(("A", "B"))
    names = grammar.tags
    exchanged = {names[t]: names[e] for t, e in enumerate(grammar.exchanged) if e != t}
    assert exchanged["DI-Ix-B"] == "DI-Iy-B"
    assert all(exchanged[other] == name for name, other in exchanged.items())
    assert len(exchanged) == 12
    assert names[grammar.continued[tag_of(1, 2)]] == "DI-Ix-B"
    assert grammar.continued[0] == grammar.continued[tag_of(0, 8)] == -1
    assert {names[t] for t in grammar.opening} == {f"DB-B{c}-{n}" for c in "xy" for n in "AB"}
