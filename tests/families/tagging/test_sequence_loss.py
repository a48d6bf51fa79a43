from __future__ import annotations

import math
import time

import numpy as np
import pytest
import torch
from torch import nn

from oracles import automaton_naive
from tiny_models import make_scheme
from trigner.batches.collation import IGNORED
from trigner.families.tagging.sequence_loss import SequenceLoss, arcs_of, log_partition
from trigner.mentions import Mention
from trigner.schemes.corro import Corro

CORRO = Corro(("A",))
SEQUENCES = ("corro", "biohd", "biohd1234", "bio")
KINDS = ("soft", "hard", "first")
ALL_KINDS = (*KINDS, "shared")

GOLD = [
    (6, [(0, 2), (3,), (4, 5)]),
    (6, [(0, 1, 2), (0, 1, 4)]),
    (6, [(0, 2), (3, 5)]),
    (4, [(1,)]),
    (5, [(0, 1), (1, 2), (4,)]),
    (1, []),
    (5, [(0, 4), (2, 4)]),
]


def batch(made, *, arcs=False, seed=0):
    """Random scores, the tags and the mask of the sentences of GOLD."""
    rows = [made.encode([Mention(w, "A") for w in gold], n).tags for n, gold in GOLD]
    length = max(map(len, rows))
    tags = torch.full((len(rows), length), IGNORED)
    for row, own in zip(tags, rows, strict=True):
        row[: len(own)] = torch.from_numpy(own)
    width = len(made.grammar.automaton.arcs) if arcs else len(made.tags)
    torch.manual_seed(seed)
    return 2 * torch.randn(len(rows), length, width), tags, tags != IGNORED


def sentences(scores, tags):
    """Each sentence of a batch without padding, in double precision."""
    for own, row in zip(scores, tags, strict=True):
        length = int((row != IGNORED).sum())
        yield own[:length].double().numpy(), row[:length].tolist()


@pytest.mark.parametrize("arcs", [False, True])
@pytest.mark.parametrize("name", SEQUENCES)
def test_the_partition_of_a_batch_is_that_of_each_sentence(name, arcs):
    automaton = make_scheme(name, ("A",)).grammar.automaton
    scores, tags, inside = batch(make_scheme(name, ("A",)), arcs=arcs)
    found = log_partition(automaton, scores, inside)
    for total, (own, _) in zip(found, sentences(scores, tags), strict=True):
        closed = automaton.distribution(own).log_partition
        assert float(total) == pytest.approx(closed, rel=1e-5)
        if len(own) < 5:
            naive = automaton_naive.log_partition(automaton, own)
            assert float(total) == pytest.approx(naive, rel=1e-5)


def test_its_gradient_is_the_marginals():
    automaton = CORRO.grammar.automaton
    scores, tags, inside = batch(CORRO)
    scores.requires_grad_()
    log_partition(automaton, scores, inside).sum().backward()
    for gradient, (own, _) in zip(scores.grad, sentences(scores.detach(), tags), strict=True):
        marginals = automaton.distribution(own).marginals
        np.testing.assert_allclose(gradient[: len(own)], marginals, atol=1e-5)
        assert not gradient[len(own) :].any()


@pytest.mark.parametrize("kind", ALL_KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_gold_in_closed_form_equals_all_sequences_that_mean_it(kind, seed):
    loss = SequenceLoss(CORRO.grammar, kind)
    scores, tags, inside = batch(CORRO, seed=seed)
    found = loss.log_gold(scores, tags.masked_fill(~inside, 0), inside)
    for total, (own, row) in zip(found, sentences(scores, tags), strict=True):
        meant = meaning(tuple(row))
        weights = {t: w for t, w in weighed(own).items() if meaning(t) == meant}
        expected = {
            "soft": math.log(math.fsum(map(math.exp, weights.values()))),
            "hard": max(weights.values()),
            "first": weights[tuple(row)],
            "shared": math.log(
                math.fsum(math.exp(w) for t, w in weights.items() if shared_is_x(t))
            ),
        }[kind]
        assert float(total) == pytest.approx(expected, rel=1e-5, abs=1e-5)


def shared_is_x(tags):
    """Whether the one component that all mentions of a set share, if there is one, is x."""
    sets = []
    for tag in tags:
        name = CORRO.tags[tag].partition("-A")[0]
        if name in ("DB-Bx", "DB-By"):
            sets.append("")
        if name in ("DB-Bx", "DI-Bx"):
            sets[-1] += "x"
        if name in ("DB-By", "DI-By"):
            sets[-1] += "y"
    return all(own.count("y") != 1 or own.count("x") == 1 for own in sets)


def test_the_cue_chooses_one_naming_of_each_set_with_one_shared_component():
    row = CORRO.encode([Mention(w, "A") for w in ((0, 4), (2, 4))], 5).tags.tolist()
    exchanged = [CORRO.grammar.exchanged[tag] for tag in row]
    assert (shared_is_x(row), shared_is_x(exchanged)) == (False, True)


def weighed(scores):
    return automaton_naive.weighed(CORRO.grammar.automaton, scores)


def meaning(tags):
    return {s.mention for s in CORRO.decode_tags(np.array(tags)).mentions}


@pytest.mark.parametrize(
    ("name", "arcs"),
    [(name, arcs) for name in SEQUENCES for arcs in (False, True) if (name, arcs) != ("corro", 1)],
)
def test_the_loss_is_the_mean_over_words(name, arcs):
    made = make_scheme(name, ("A",))
    scores, tags, inside = batch(made, arcs=arcs)
    total = 0.0
    for own, row in sentences(scores, tags):
        automaton = made.grammar.automaton
        if arcs:
            path = arcs_of(automaton, torch.tensor([row]))[0].tolist()
            assert [automaton.arcs[a].tag for a in path] == row
            gold = math.fsum(own[n, arc] for n, arc in enumerate(path))
        else:
            gold = math.fsum(own[n, tag] for n, tag in enumerate(row))
        total += float(automaton.distribution(own).log_partition) - gold
    found = SequenceLoss(made.grammar, "first")(scores, tags)
    assert float(found) == pytest.approx(total / int(inside.sum()), rel=1e-5)


def test_soft_is_at_most_hard_and_hard_at_most_first():
    for seed in range(5):
        scores, tags, _ = batch(CORRO, seed=seed)
        soft, hard, first = (float(SequenceLoss(CORRO.grammar, k)(scores, tags)) for k in KINDS)
        assert 0 <= soft < hard <= first
    sure = nn.functional.one_hot(tags.clamp(min=0), 10) * 30.0
    assert float(SequenceLoss(CORRO.grammar)(sure, tags)) == pytest.approx(0, abs=1e-5)


def test_exchanging_the_types_of_components_changes_nothing():
    scores, tags, _ = batch(CORRO)
    exchanged = scores[..., list(CORRO.grammar.exchanged)]
    for kind in ("soft", "hard"):
        loss = SequenceLoss(CORRO.grammar, kind)
        torch.testing.assert_close(loss(scores, tags), loss(exchanged, tags))
    first = SequenceLoss(CORRO.grammar, "first")
    assert not torch.isclose(first(scores, tags), first(exchanged, tags))


@pytest.mark.parametrize("kind", KINDS)
def test_batch_mates_change_nothing(kind):
    loss = SequenceLoss(CORRO.grammar, kind)
    scores, tags, inside = batch(CORRO)
    wide = torch.cat([scores, torch.full((len(scores), 3, 10), 7.0)], dim=1).requires_grad_()
    padding = torch.full((len(tags), 3), IGNORED)
    together = loss(wide, torch.cat([tags, padding], dim=1))
    together.backward()
    assert not wide.grad[:, -3:].any()
    alone = sum(
        loss(own[None, : int(n)], row[None, : int(n)]) * n
        for own, row, n in zip(scores, tags, inside.sum(dim=1), strict=True)
    )
    torch.testing.assert_close(together, alone / inside.sum())


def test_gradients_are_numbers_for_scores_of_any_size():
    for large in (1e3, 1e6):
        scores, tags, _ = batch(CORRO)
        scores = (scores * large).requires_grad_()
        SequenceLoss(CORRO.grammar)(scores, tags).backward()
        assert torch.isfinite(scores.grad).all()


@pytest.mark.parametrize("kind", ["soft", "hard"])
def test_component_types_part_by_themselves(kind):
    """Body parts and complaints in either order: after training sets have one sure naming."""
    torch.manual_seed(0)
    places, complaints = range(4), range(4, 8)
    rng = np.random.default_rng(0)
    texts, tags = [], []
    for _ in range(80):
        one, other = (places, complaints) if rng.random() < 0.5 else (complaints, places)
        texts.append([rng.choice(one), 8, rng.choice(other), 9, rng.choice(other)])
        gold = [Mention((0, 2), "A"), Mention((0, 4), "A")]
        tags.append(CORRO.encode(gold, 5).tags)
    words, targets = torch.tensor(np.array(texts)), torch.tensor(np.array(tags))
    scorer = nn.Embedding(10, 10)
    nn.init.normal_(scorer.weight, std=0.02)
    optimiser = torch.optim.Adam(scorer.parameters(), lr=0.1)
    loss = SequenceLoss(CORRO.grammar, kind)
    for _ in range(150):
        optimiser.zero_grad()
        loss(scorer(words), targets).backward()
        optimiser.step()
    with torch.no_grad():
        scores = scorer(words)
        inside = torch.ones_like(targets, dtype=torch.bool)
        both = SequenceLoss(CORRO.grammar, "soft").log_gold(scores, targets, inside)
        better = SequenceLoss(CORRO.grammar, "hard").log_gold(scores, targets, inside)
    assert float(((better - both).exp() > 0.9).float().mean()) > 0.9


def test_time_is_linear_in_the_words():
    def seconds(length):
        scores = torch.randn(2, length, 10, requires_grad=True)
        tags = torch.zeros(2, length, dtype=torch.long)
        times = []
        for _ in range(3):
            started = time.process_time()
            SequenceLoss(CORRO.grammar)(scores, tags).backward()
            times.append(time.process_time() - started)
        return min(times)

    seconds(20)
    assert seconds(1200) < 8 * 3 * seconds(150)
