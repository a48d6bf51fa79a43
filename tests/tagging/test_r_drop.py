from __future__ import annotations

import math
from itertools import product
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from tagging.tag_groups import CLASSES, GROUPS, LENGTHS
from trigner.batches import IGNORED, Example, Window
from trigner.errors import InputError
from trigner.mentions import Mention
from trigner.networks import NetworkSettings, TagScores, create
from trigner.schemes import TagSpace
from trigner.systems import own_systems
from trigner.systems.network_settings import SequenceSettings
from trigner.systems.taggers import TAGGERS
from trigner.tagging.objective import Objective
from trigner.tagging.r_drop import r_drop
from trigner.tagging.system import TagSystem
from trigner.training import resolve
from trigner.triplets import TripletSettings

SPACES = {
    "exclusive": SimpleNamespace(tag_space=TagSpace.EXCLUSIVE_GRID, groups=()),
    "multi-label": SimpleNamespace(tag_space=TagSpace.MULTI_LABEL_GRID, groups=GROUPS),
    "sequence": SimpleNamespace(tag_space=TagSpace.SEQUENCE, groups=()),
}


def places(scheme, length):
    """Where a sentence has tags: the words, or the cells of its grid."""
    return product(range(length), repeat=scheme.tag_space.word_axes)


def made(scheme, scale=1.0):
    """Two passes' random scores of three sentences, NaN in padding, and tags."""
    torch.manual_seed(0)
    shape = (len(LENGTHS), *[max(LENGTHS)] * scheme.tag_space.word_axes)
    several = (CLASSES,) if scheme.groups else ()
    tags = torch.full((*shape, *several), IGNORED)
    one, other = (torch.full((*shape, CLASSES), torch.nan) for _ in range(2))
    for row, length in enumerate(LENGTHS):
        for place in places(scheme, length):
            tags[(row, *place)] = torch.randint(0, 2, several)
            one[(row, *place)] = scale * torch.randn(CLASSES)
            other[(row, *place)] = scale * torch.randn(CLASSES)
    return one.requires_grad_(), other.requires_grad_(), tags


def divergence(p, q):
    """KL(p||q), the definition."""
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))


def softmax(scores):
    total = sum(map(math.exp, scores))
    return [math.exp(s) / total for s in scores]


def bernoulli(score):
    p = 1 / (1 + math.exp(-score))
    return [p, 1 - p]


def of_cell(scheme, place, one, other):
    """What a cell adds to the sum: of one distribution, or of those of its tags."""
    if not scheme.groups:
        pairs = [(softmax(one), softmax(other))]
    else:
        there = {"both": True, "upper": place[0] <= place[-1], "lower": place[0] >= place[-1]}
        tags = [t for g in scheme.groups if there[g.triangle] for t in range(g.start, g.stop)]
        pairs = [(bernoulli(one[t]), bernoulli(other[t])) for t in tags]
    return sum((divergence(p, q) + divergence(q, p)) / 2 for p, q in pairs)


@pytest.mark.parametrize("space", SPACES)
def test_the_divergence_is_the_mean_over_valid_cells(space):
    scheme = SPACES[space]
    one, other, tags = made(scheme)
    cells = [
        of_cell(scheme, place, one[(row, *place)].tolist(), other[(row, *place)].tolist())
        for row, length in enumerate(LENGTHS)
        for place in places(scheme, length)
    ]
    found = r_drop(scheme, 1.0).divergence(one, other, tags)
    assert found.item() == pytest.approx(sum(cells) / len(cells), rel=1e-5)
    assert found.item() == r_drop(scheme, 1.0).divergence(other, one, tags).item() > 0.1


@pytest.mark.parametrize("space", SPACES)
def test_equal_scores_are_not_apart_and_padding_gets_no_gradient(space):
    scheme = SPACES[space]
    one, other, tags = made(scheme)
    assert r_drop(scheme, 1.0).divergence(one, one, tags).item() == 0
    r_drop(scheme, 1.0).divergence(one, other, tags).backward()
    padding = one.isnan()
    for scores in (one, other):
        assert (scores.grad[padding] == 0).all()
        assert scores.grad[~padding].abs().sum() > 0.1


@pytest.mark.parametrize("space", SPACES)
def test_certain_scores_stay_finite(space):
    scheme = SPACES[space]
    one, other, tags = made(scheme, scale=1e4)
    found = r_drop(scheme, 1.0).divergence(one, other, tags)
    found.backward()
    assert found.isfinite()
    assert one.grad[~one.isnan()].isfinite().all()


def test_a_weight_of_nothing_is_no_r_drop():
    assert r_drop(SPACES["exclusive"], 0.0) is None


class TwoPasses(nn.Module):
    """A tagger whose passes give these scores in turn, of some sentences."""

    def __init__(self, *passes):
        super().__init__()
        self.passes, self.made = passes, 0

    def forward(self, rows):
        self.made += 1
        return TagScores(self.passes[(self.made - 1) % len(self.passes)][rows], None)

    def emissions(self, scores):
        return scores.logits


def mean_square(logits, tags):
    """A task loss that is a mean over valid cells in any tag space."""
    valid = (tags if tags.dim() < logits.dim() else tags[..., 0]) != IGNORED
    return logits[valid].square().mean()


@pytest.mark.parametrize("space", SPACES)
def test_the_parts_of_a_batch_sum_up_to_the_whole(space):
    scheme = SPACES[space]
    one, other, tags = made(scheme)
    objective = Objective(
        TwoPasses(one, other), mean_square, TripletSettings(weight=0), r_drop=r_drop(scheme, 0.7)
    )
    whole = objective(tags, rows=[0, 1, 2])
    sizes = [length**scheme.tag_space.word_axes for length in LENGTHS]
    parts = []
    for rows in ([0, 2], [1]):
        share = sum(sizes[row] for row in rows) / sum(sizes)
        parts.append(objective(tags[rows], weights={"cells": share}, rows=rows))
    torch.testing.assert_close(sum(part.total for part in parts), whole.total)
    for name in ("loss_tags", "loss_r_drop"):
        torch.testing.assert_close(sum(part.parts[name] for part in parts), whole.parts[name])


CASES = {
    "w2ner": "w2ner",
    "mac": "mac",
    "toe": "toe",
    "corro": "corro",
    "transitions": "biohd",
}
"""Tag schemes; arcs have weights in one."""


def with_transitions(encoder, scheme):
    """A model whose arcs have weights that are not 0 any more."""
    torch.manual_seed(1)
    network = NetworkSettings(special_words=False, sequence=SequenceSettings(transitions=True))
    model = create(str(encoder), scheme, ("ADR",), network)
    nn.init.normal_(model.tagger.transitions.weight, std=3.0)
    return model


@pytest.fixture
def system(tiny, encoder):
    """Makes a small system with a weight of R-drop, and a batch of it."""

    def make(case, weight):
        scheme = CASES[case]
        model = with_transitions(encoder, scheme) if case == "transitions" else tiny(scheme)
        settings = resolve(
            preset="clean",
            options={"system": scheme},
            assignments=[f"optimisation.r_drop={weight}"],
        )
        words = [["my", "left", "leg", "hurt"], ["no", "pain"]]
        mentions = [(Mention((1, 2, 3), "ADR"),), ()]
        examples = [
            Example(n, Window(0, len(w), 0, len(w)), p, m)
            for n, (w, p, m) in enumerate(
                zip(words, model.inputs.tokenizer(words), mentions, strict=True)
            )
        ]
        own = TagSystem(model, settings)
        return own, own.collate(examples)

    return make


@pytest.mark.parametrize("case", CASES)
def test_without_dropout_the_loss_is_todays_exactly(system, case):
    (with_it, batch), (without, _) = system(case, 3.0), system(case, 0.0)
    with_it.network.eval()
    without.network.eval()
    found, plain = with_it.loss({}, **batch), without.loss({}, **batch)
    assert found.parts["loss_r_drop"].item() == 0
    assert found.total.equal(plain.total)
    assert {n: v for n, v in found.parts.items() if n != "loss_r_drop"} == plain.parts


@pytest.mark.parametrize("case", CASES)
def test_the_loss_of_two_passes_against_its_formula(system, case):
    own, batch = system(case, 3.0)
    own.network.train()
    torch.manual_seed(5)
    found = own.loss({"cells": 0.5, "triplets": 0.25}, **batch)
    inputs = {n: v for n, v in batch.items() if n not in ("tags", "candidates")}
    torch.manual_seed(5)
    one, other = own.network(**inputs), own.network(**inputs)
    task = [
        own.objective.task_loss(scores.logits.float(), batch["tags"]) for scores in (one, other)
    ]
    tags = [
        scores.logits if case != "transitions" else own.network.output(scores.states)
        for scores in (one, other)
    ]
    apart = own.objective.r_drop.divergence(*tags, batch["tags"])
    expected = 0.5 * (sum(task) / 2 + 3 * apart)
    if "candidates" in batch:
        cells = batch["candidates"]
        states = own.objective._states(one, cells)
        triplets = 0.25 * own.objective.triplet_loss(states, cells).loss
        expected = expected + own.objective.triplets.weight * triplets
    assert task[0] != task[1]
    assert found.parts["loss_r_drop"] > 0
    torch.testing.assert_close(found.total, expected)
    own.network.eval()


@pytest.mark.parametrize("name", own_systems())
def test_systems_without_it_refuse_it(name):
    wanted = {"options": {"system": name}, "assignments": ["optimisation.r_drop=1"]}
    if name in TAGGERS:
        assert resolve(**wanted).identity()["optimisation.r_drop"] == 1
        return
    with pytest.raises(InputError, match=rf"r_drop changes nothing: the system {name} does not"):
        resolve(**wanted)
    assert "optimisation.r_drop" not in resolve(options={"system": name}).identity()
