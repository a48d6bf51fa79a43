from __future__ import annotations

import time

import numpy as np
import pytest

from oracles import automaton_naive
from tiny_models import make_scheme
from trigner.schemes.automaton import Arc, Automaton

SEQUENCES = ("corro", "biohd", "biohd1234", "bio")


def automaton_of(name, labels=("A",)):
    return make_scheme(name, labels).grammar.automaton


def scores_for(automaton, length, seed, *, arcs=False):
    width = len(automaton.arcs) if arcs else int(automaton.arc_tags.max()) + 1
    return np.random.default_rng(seed).normal(size=(length, width)) * 2


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize("labels", [("A",), ("A", "B", "C")])
def test_every_state_is_reached_and_reaches_a_final_one(name, labels):
    automaton = automaton_of(name, labels)
    forth = closure({automaton.start}, [(a.source, a.target) for a in automaton.arcs])
    back = closure(set(automaton.finals), [(a.target, a.source) for a in automaton.arcs])
    everything = set(range(len(automaton.states)))
    assert forth == back == everything
    assert len(set(automaton.states)) == len(automaton.states)


def closure(states, steps):
    while more := {target for source, target in steps if source in states} - states:
        states = states | more
    return states


def test_a_choice_and_an_unknown_state_are_refused(refused):
    with refused(error=ValueError):
        Automaton(("a", "b"), (Arc(0, 0, 0), Arc(0, 0, 1)), 0, (0,))
    with refused(error=ValueError):
        Automaton(("a", "b"), (Arc(0, 0, 2),), 0, (0,))


@pytest.mark.parametrize("arcs", [False, True])
@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize("seed", range(4))
def test_everything_equals_the_sum_over_all_sequences(name, seed, arcs):
    automaton = automaton_of(name)
    scores = scores_for(automaton, seed + 1, seed, arcs=arcs)
    weights = automaton_naive.weighed(automaton, scores)
    best = automaton.best(scores)
    assert best.score == pytest.approx(max(weights.values()))
    assert weights[tuple(best.tags.tolist())] == pytest.approx(best.score)
    assert float(automaton.distribution(scores).log_partition) == pytest.approx(
        automaton_naive.log_partition(automaton, scores)
    )
    tags = int(automaton.arc_tags.max()) + 1
    np.testing.assert_allclose(
        automaton.distribution(scores).marginals,
        automaton_naive.marginals(automaton, scores, tags),
        atol=1e-9,
    )


@pytest.mark.parametrize("length", [5, 6])
def test_longer_sentences_too(length):
    automaton = automaton_of("corro")
    scores = scores_for(automaton, length, length)
    weights = automaton_naive.weighed(automaton, scores)
    assert automaton.best(scores).score == pytest.approx(max(weights.values()))
    assert float(automaton.distribution(scores).log_partition) == pytest.approx(
        automaton_naive.log_partition(automaton, scores)
    )


def test_a_walk_over_some_arcs_has_their_chance():
    automaton = automaton_of("corro")
    scores = scores_for(automaton, 4, 0)
    distribution = automaton.distribution(scores)
    for seed in range(6):
        allowed = np.random.default_rng(seed).random((4, 10)) < 0.7
        walked = distribution.states[1]
        for word in (1, 2):
            walked = walked @ distribution.steps(word, allowed[word, automaton.arc_tags])
        expected = automaton_naive.probability(
            automaton, scores, lambda tags, own=allowed: own[[1, 2], tags[1:3]].all()
        )
        assert walked.sum() == pytest.approx(expected)


@pytest.mark.parametrize("large", [1.0, 1e4, 1e8])
def test_marginals_stay_marginals_in_long_sentences(large):
    automaton = automaton_of("corro", ("A", "B"))
    distribution = automaton.distribution(scores_for(automaton, 400, 0) * large)
    np.testing.assert_allclose(distribution.states.sum(axis=1), 1)
    assert (distribution.states[-1][list(automaton.finals)].sum()) == pytest.approx(1)


@pytest.mark.parametrize("name", SEQUENCES)
def test_accepts_what_can_be_enumerated_and_nothing_else(name):
    automaton = automaton_of(name)
    known = {tags for tags, _ in automaton_naive.accepted(automaton, 3)}
    tags = int(automaton.arc_tags.max()) + 1
    for sequence in np.ndindex(tags, tags, tags):
        assert automaton.accepts(sequence) == (sequence in known)


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize("large", [1e2, 1e6])
def test_the_best_sequence_is_well_formed_whatever_the_scores(name, large):
    automaton = automaton_of(name, ("A", "B"))
    for seed in range(30):
        scores = scores_for(automaton, 25, seed) * large
        scores[:, 0] -= large * 10 * (seed % 2)  # nothing outside
        assert automaton.accepts(automaton.best(scores).tags)
        np.testing.assert_allclose(automaton.distribution(scores).marginals.sum(axis=1), 1)


@pytest.mark.parametrize("name", SEQUENCES)
def test_words_that_agree_need_no_search_and_it_would_find_the_same(name, monkeypatch):
    automaton = automaton_of(name, ("A", "B"))
    agreed = 0
    for seed in range(60):
        scores = scores_for(automaton, 4, seed)
        scores[:, 0] += 3 * (seed % 3)
        if seed % 4 == 0:
            scores = scores.round()  # with equals
        quick = automaton.best(scores)
        agreed += automaton._each_alone(scores) is not None
        with monkeypatch.context() as patch:
            patch.setattr(Automaton, "_each_alone", lambda *_: None)
            searched = automaton.best(scores)
        assert quick.tags.tolist() == searched.tags.tolist()
        assert quick.score == pytest.approx(searched.score)
    assert 5 < agreed < 60


def test_no_words_and_no_way(refused):
    automaton = automaton_of("corro")
    none = np.zeros((0, 10))
    assert automaton.best(none).tags.shape == (0,)
    assert automaton.distribution(none).log_partition == 0
    assert automaton.distribution(none).marginals.shape == (0, 10)
    stuck = Automaton(("a", "b"), (Arc(0, 0, 1),), 0, (1,))
    with refused(error=ValueError):
        stuck.best(np.zeros((2, 1)))


def test_of_equals_the_first_tag():
    automaton = automaton_of("corro")
    assert automaton.best(np.zeros((7, 10))).tags.tolist() == [0] * 7


@pytest.mark.parametrize("work", [Automaton.best, lambda a, s: a.distribution(s).marginals])
def test_time_is_linear_in_the_words(work):
    automaton = automaton_of("corro")

    def seconds(length):
        scores = scores_for(automaton, length, 0)
        times = []
        for _ in range(5):
            started = time.process_time()
            work(automaton, scores)
            times.append(time.process_time() - started)
        return min(times)

    seconds(50)
    assert seconds(3200) < 8 * 2.5 * seconds(400)
