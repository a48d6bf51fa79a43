"""Batched decoding: equal to teacher forcing, to search by enumeration, and to itself alone."""

from __future__ import annotations

import time

import numpy as np
import pytest
import torch

from tiny_parsers import GOLD, TEXT, sentence
from trigner.families.core.word_network import batch_tensors
from trigner.families.transition.layout import layout
from trigner.families.transition.parser import Action, Rules, State, after


def inputs_of(system, sentences):
    return system.inputs.prepare(sentences).inputs


def forced(system, examples, actions):
    """Logits of these actions by the network that computes all steps at once."""
    lengths = [e.length for e in examples]
    laid = layout(actions, lengths, system.rules, max(lengths))
    names = ("unions", "stacks", "held", "tops", "buffer", "taken")
    tensors = {name: torch.from_numpy(getattr(laid, name)) for name in names}
    system.network.eval()
    with torch.no_grad():
        logits = system.network(
            **batch_tensors(system.inputs.collate(examples)),
            **tensors,
            depths=laid.depths,
            heights=laid.heights,
        )
    legal = system.rules.table()[laid.legal]
    return np.where(legal, logits.numpy(), -np.inf)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("changes", [{}, {"actions": "paper"}, {"overlapping_reductions": True}])
@pytest.mark.parametrize("mixed", [False, True])
def test_steps_one_by_one_score_as_all_at_once(make, seed, changes, mixed):
    """In mixed precision, too, in which a training in bfloat16 scores dev."""
    system = make(seed, sharp=20.0, **changes)
    examples = inputs_of(system, GOLD)
    with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
        parses = system.predictor("cpu").outputs(examples)
        logits = forced(system, examples, [parse.actions for parse in parses])
    for parse, own in zip(parses, logits, strict=True):
        assert parse.logits == pytest.approx(own[: len(parse.actions)], abs=1e-4)
        assert parse.actions == tuple(own[: len(parse.actions)].argmax(axis=1))


def test_these_parses_take_every_action(make):
    taken = set()
    for seed in range(12):
        system = make(seed, sharp=20.0)
        for parse in system.predictor("cpu").outputs(inputs_of(system, GOLD)):
            taken.update(parse.actions)
    assert taken == set(range(Action.COMPLETE + 2))


@pytest.mark.parametrize("beam_size", [1, 3])
def test_results_do_not_depend_on_batch_mates(make, beam_size):
    for seed in range(4):
        system = make(seed, sharp=20.0, beam_size=beam_size)
        predictor = system.predictor("cpu")
        examples = inputs_of(system, GOLD)
        for together, example in zip(predictor.outputs(examples), examples, strict=True):
            (alone,) = predictor.outputs([example])
            assert together.actions == alone.actions
            assert together.logits == pytest.approx(alone.logits, abs=1e-4)


def every_parse(rules, length):
    """All sequences of legal actions of a sentence."""
    todo = [((), State())]
    while todo:
        actions, state = todo.pop()
        if not rules.legal(state, length):
            yield actions
        for action in range(Action.COMPLETE + rules.types):
            if rules.allows(state, length, action):
                todo.append(((*actions, action), after(state, action)))


def test_a_wide_beam_finds_the_most_probable_parse(make):
    differ = 0
    for seed in range(6):
        system = make(seed, labels=("ADR",), sharp=2.0, actions="paper", beam_size=64)
        (example,) = inputs_of(system, [sentence("left leg hurt")])
        every = list(every_parse(system.rules, 3))
        logits = forced(system, [example] * len(every), every)
        sums = [log_probability(*pair) for pair in zip(logits, every, strict=True)]
        best = every[int(np.argmax(sums))]
        (found,) = system.predictor("cpu").outputs([example])
        assert found.actions == best
        system.settings = system.settings.model_copy(update={"beam_size": 1})
        differ += system.predictor("cpu").outputs([example])[0].actions != best
    assert differ, "greedy search found them all: this shows nothing of the beam"


def log_probability(logits, actions):
    logits = logits[: len(actions)].astype(np.float64)
    logs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    return logs[np.arange(len(actions)), list(actions)].sum()


def test_a_score_is_the_product_over_the_actions_of_a_mention(make):
    system = make(3)
    predictor = system.predictor("cpu")
    examples = inputs_of(system, GOLD)
    scores = 0
    for temperature in (1.0, 2.0):
        predictions = predictor.at_temperatures(examples, [temperature])[temperature]
        for parse, prediction in zip(predictor.outputs(examples), predictions, strict=True):
            logits = parse.logits.astype(np.float64) / temperature
            shares = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
            taken = shares[np.arange(len(parse.actions)), list(parse.actions)]
            expected = {}
            for found in parse.found:
                key = (found.words, system.labels[found.label])
                own = float(np.prod(taken[list(found.steps)]))
                expected[key] = max(own, expected.get(key, 0))
            for scored in prediction.mentions:
                words = sum(1 << w for w in scored.mention.words)
                assert scored.score == pytest.approx(expected.pop((words, scored.mention.label)))
                assert 0 < scored.score <= 1
                scores += 1
            assert not expected
    assert scores


def test_a_temperature_changes_scores_and_no_mention(make):
    system = make(3)
    examples = inputs_of(system, GOLD)
    predictor = system.predictor("cpu")
    plain = predictor.predict(examples)
    flat = predictor.with_temperature(3.0).predict(examples)
    assert [{s.mention for s in p.mentions} for p in plain] == [
        {s.mention for s in p.mentions} for p in flat
    ]
    assert [p.mentions for p in plain] != [p.mentions for p in flat]
    assert predictor.at_temperatures(examples, [1.0, 3.0]) == {1.0: plain, 3.0: flat}


@pytest.mark.parametrize("beam_size", [1, 4])
def test_400_words_end_at_a_bound_that_is_reported(make, beam_size):
    # What an untrained network may do at worst: copy and swap for as long as that is legal.
    system = make(2, beam_size=beam_size)
    with torch.no_grad():
        system.network.output.weight.zero_()
        system.network.output.bias.copy_(torch.tensor([5.0, 0, 2, 3, 4, 6, 6, 0, 0]))
    words = sentence(" ".join([TEXT] * 25))
    predictor = system.predictor("cpu")
    start = time.process_time()
    predictions = predictor.predict(inputs_of(system, [words]))
    assert time.process_time() - start < 120
    assert any(p.bounded for p in predictions)
    assert all(p.mentions for p in predictions)


def test_the_paper_s_actions_have_no_bound_to_meet():
    assert Rules(extended=False).bound(100) == 0


def test_nothing_gives_nothing(make):
    assert make().predictor("cpu").predict([]) == []
