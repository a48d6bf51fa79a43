"""The parser in training: its loss, its counts, and that it learns."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from tiny_parsers import GOLD, LABELS, sentence
from trigner.batches.collation import IGNORED
from trigner.batches.examples import Example
from trigner.families.transition.layout import states_of
from trigner.families.transition.loading import load
from trigner.families.transition.oracle import derivation
from trigner.families.transition.parser import Action
from trigner.families.transition.spec import SPEC
from trigner.mentions import Mention
from trigner.models.folder import Description

CROSSING = sentence("my arm and leg hurt numb", ((0, 2, 4), "ADR"), ((1, 2, 5), "ADR"))


def batch_of(system, sentences):
    examples = system.prepare(sentences).inputs
    return examples, system.collate(examples)


def test_the_loss_is_the_mean_over_the_steps_with_a_choice(make):
    system = make()
    system.network.eval()
    examples, batch = batch_of(system, GOLD)
    legal = batch["legal"]
    total, steps = 0.0, 0
    logits = system.network(**{k: v for k, v in batch.items() if k not in ("gold", "legal")})
    for b, example in enumerate(examples):
        actions = system._derived(example.mentions, example.length).actions
        for t, (state, action) in enumerate(zip(states_of(actions), actions, strict=False)):
            options = [
                a for a in range(len(legal[0, 0])) if system.rules.allows(state, example.length, a)
            ]
            assert legal[b, t].nonzero().flatten().tolist() == options
            if len(options) > 1:
                target = torch.tensor(options.index(action))
                total += float(functional.cross_entropy(logits[b, t, options], target).detach())
                steps += 1
    assert steps == sum(system.sizes(e)["actions"] for e in examples)
    assert float(system.loss({}, **dict(batch)).total.detach()) == pytest.approx(
        total / steps, rel=1e-4
    )
    weighted = system.loss({"actions": 3.0}, **dict(batch)).total
    assert float(weighted.detach()) == pytest.approx(3 * total / steps, rel=1e-4)


def test_the_loss_does_not_depend_on_batch_mates(make):
    system = make()
    system.network.eval()
    losses, sizes = [], []
    for own in GOLD:
        examples, batch = batch_of(system, [own])
        losses.append(float(system.loss({}, **batch).total.detach()))
        sizes.append(system.sizes(examples[0])["actions"])
    together = float(system.loss({}, **batch_of(system, GOLD)[1]).total.detach())
    mean = sum(a * b for a, b in zip(losses, sizes, strict=True)) / sum(sizes)
    assert together == pytest.approx(mean, rel=1e-4)


def test_gradients_reach_every_part(make):
    system = make()
    batch = batch_of(system, [*GOLD, CROSSING])[1]
    system.loss({}, **batch).total.backward()
    without = [
        name
        for name, parameter in system.network.named_parameters()
        if parameter.grad is None or not parameter.grad.abs().sum() > 0
    ]
    assert not without


def test_steps_without_a_choice_make_no_loss(make):
    system = make(labels=("ADR",))
    only = sentence("hurt", ((0,), "ADR"))
    examples, batch = batch_of(system, [only])
    assert system.sizes(examples[0]) == {"actions": 1}  # SHIFT or OUT; then COMPLETE alone is legal
    assert batch["gold"].tolist() == [[Action.SHIFT, IGNORED]]
    batch["gold"][:] = IGNORED
    assert float(system.loss({}, **batch).total.detach()) == 0


def test_what_the_paper_cannot_express_is_counted_and_left_out(make):
    lost = make(actions="paper")
    assert make().inexpressible([CROSSING, *GOLD]) == 0
    assert lost.inexpressible([CROSSING]) == 1
    examples = lost.prepare([CROSSING]).inputs
    assert len(lost._derived(examples[0].mentions, 6).mentions) == 1


def test_actions_of_a_sentence_are_sought_once(make, monkeypatch):
    sought = []

    def counted(mentions, *rest):
        sought.append(mentions)
        return derivation(mentions, *rest)

    monkeypatch.setattr("trigner.families.transition.system.derivation", counted)
    system = make()
    examples, _ = batch_of(system, [CROSSING, *GOLD])
    system.collate(examples)
    system.inexpressible([CROSSING, *GOLD])
    assert all(system.sizes(example)["actions"] for example in examples)
    assert len(sought) == len({(own.mentions, own.length) for own in examples})


def test_sentences_are_dropped_as_in_the_paper(make):
    system = make(actions="paper", inexpressible_sentences="drop")
    assert [e.sentence for e in system.prepare([GOLD[0], CROSSING, GOLD[3]]).inputs] == [0, 2]
    assert system.inexpressible([GOLD[0], CROSSING, GOLD[3]]) == 2
    assert len(system.predictor("cpu").prepare([CROSSING]).inputs) == 1


def test_it_overfits_eight_sentences(make):
    system = make(embedding_dropout=0.0, output_dropout=0.0, lstm_size=32, hidden_size=32)
    for module in system.network.encoder.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    examples, batch = batch_of(system, GOLD)
    optimiser = torch.optim.AdamW(system.network.parameters(), lr=1e-2)
    system.network.train()
    for _ in range(120):
        optimiser.zero_grad()
        system.loss({}, **dict(batch)).total.backward()
        optimiser.step()
    for own, prediction in zip(GOLD, system.predictor("cpu").predict(examples), strict=True):
        assert {scored.mention for scored in prediction.mentions} == set(own.mentions)


def test_mentions_of_windows_are_those_of_their_sentence(make):
    """The tiny encoder holds 40 subwords: a longer sentence is read in windows."""
    system = make()
    long = sentence("my left leg hurt " * 30, ((1, 2, 3), "ADR"), ((117, 118, 119), "ADR"))
    prepared = system.prepare([long])
    assert len(prepared.inputs) > 1
    assert not prepared.lost
    held = {m for e in prepared.inputs for own in e.mentions if (m := e.in_sentence(own))}
    assert held == set(long.mentions)
    assert isinstance(prepared.inputs[0], Example)
    assert system._derived(prepared.inputs[0].mentions, prepared.inputs[0].length).actions


def test_export_says_why_it_cannot_be(refused):
    with refused():
        SPEC.require("export")


def test_a_folder_of_other_settings_is_refused(tmp_path, refused):
    description = Description(system="transition", labels=LABELS, model={"lstm_sise": 3}, files={})
    with refused():
        load(tmp_path, description)


def test_a_mention_of_an_unknown_type_or_word_is_an_error(make, refused):
    with refused(error=ValueError):
        make()._derived([Mention((0,), "Disease")], 2)
    with refused(error=ValueError):
        make()._derived([Mention((2,), "ADR")], 2)
