from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from families.tagging.tag_groups import CLASSES, GROUPS, LENGTHS
from tiny_models import extractor, make_scheme
from trigner.batches.collation import IGNORED
from trigner.families.tagging.distillation import LEAST, SoftTags, Teachers, distillation
from trigner.families.tagging.objective import Objective
from trigner.families.tagging.system import TagSystem
from trigner.families.tagging.tagger import TagScores
from trigner.families.tagging.task_losses import cell_cross_entropy
from trigner.mentions import Mention, Sentence
from trigner.schemes.scheme import TagSpace
from trigner.systems.protocols import Student
from trigner.training.settings import resolve
from trigner.triplets.settings import TripletSettings

SPACES = {
    "exclusive": SimpleNamespace(tag_space=TagSpace.EXCLUSIVE_GRID, groups=()),
    "multi-label": SimpleNamespace(tag_space=TagSpace.MULTI_LABEL_GRID, groups=GROUPS),
}
GRIDS = ("w2ner", "mac", "toe", "span_grid", "gap_grid")
WORDS = (("my", "left", "leg", "hurt"), ("no", "pain"), ("numb", "left", "arm", "."))


def made(scheme):
    """Random scores of three sentences, NaN in padding, tags, and what teachers say."""
    torch.manual_seed(0)
    shape = (len(LENGTHS), max(LENGTHS), max(LENGTHS))
    several = (CLASSES,) if scheme.groups else ()
    tags = torch.full((*shape, *several), IGNORED)
    logits = torch.full((*shape, CLASSES), torch.nan)
    soft = torch.zeros((*shape, CLASSES - (not scheme.groups)))
    for row, length in enumerate(LENGTHS):
        own = (row, slice(length), slice(length))
        tags[own] = torch.randint(0, 2, (length, length, *several))
        logits[own] = torch.randn(length, length, CLASSES)
        random = torch.rand(length, length, CLASSES)
        soft[own] = random if scheme.groups else random.softmax(dim=-1)[..., 1:]
    return logits.requires_grad_(), tags, soft


def of_cell(scheme, i, j, scores, wanted):
    """The definition: cross-entropy with the teachers' distribution, of one or of several tags."""
    if not scheme.groups:
        total = sum(map(math.exp, scores))
        whole = [1 - sum(wanted), *wanted]
        return -sum(p * math.log(math.exp(s) / total) for p, s in zip(whole, scores, strict=True))
    there = {"both": True, "upper": i <= j, "lower": i >= j}
    found = 0.0
    for group in scheme.groups:
        for tag in range(group.start, group.stop) if there[group.triangle] else ():
            p = 1 / (1 + math.exp(-scores[tag]))
            found -= wanted[tag] * math.log(p) + (1 - wanted[tag]) * math.log(1 - p)
    return found


@pytest.mark.parametrize("space", SPACES)
def test_the_loss_is_the_mean_over_valid_cells(space):
    scheme = SPACES[space]
    logits, tags, soft = made(scheme)
    cells = [
        of_cell(scheme, i, j, logits[row, i, j].tolist(), soft[row, i, j].tolist())
        for row, length in enumerate(LENGTHS)
        for i in range(length)
        for j in range(length)
    ]
    loss = distillation(scheme, 0.5).loss(logits, tags, soft)
    assert loss.item() == pytest.approx(sum(cells) / len(cells), rel=1e-5)
    loss.backward()
    padding = logits.isnan()
    assert (logits.grad[padding] == 0).all()
    assert logits.grad[~padding].abs().sum() > 0.1


def test_teachers_that_are_sure_of_the_tags_ask_for_the_tags():
    scheme = SPACES["exclusive"]
    logits, tags, _ = made(scheme)
    certain = nn.functional.one_hot(tags.clamp(min=0), CLASSES)[..., 1:].float()
    found = distillation(scheme, 1.0).loss(logits, tags, certain)
    torch.testing.assert_close(found, cell_cross_entropy(logits, tags))


class Given(nn.Module):
    """A tagger that gives scores of some sentences."""

    def __init__(self, logits):
        super().__init__()
        self.logits = logits

    def forward(self, rows):
        return TagScores(self.logits[rows], None)


@pytest.mark.parametrize("space", SPACES)
def test_the_parts_of_a_batch_sum_up_to_the_whole(space):
    scheme = SPACES[space]
    logits, tags, soft = made(scheme)

    def mean_square(found, wanted):
        return found[(wanted if wanted.dim() == 3 else wanted[..., 0]) != IGNORED].square().mean()

    without = TripletSettings(weight=0)
    taught = distillation(scheme, 0.3)
    objective = Objective(Given(logits), mean_square, without, distillation=taught)
    whole = objective(tags, soft=soft, rows=[0, 1, 2]).total
    expected = 0.7 * mean_square(logits, tags) + 0.3 * taught.loss(logits, tags, soft)
    torch.testing.assert_close(whole, expected)
    parts = []
    for rows in ([0, 2], [1]):
        share = sum(LENGTHS[row] ** 2 for row in rows) / sum(length**2 for length in LENGTHS)
        weights = {"cells": share}
        parts.append(objective(tags[rows], weights=weights, soft=soft[rows], rows=rows).total)
    torch.testing.assert_close(sum(parts), whole)


def predictor(model):
    return extractor(model).predictor


def sentences(*words):
    mentions = (Mention((0, 1), "ADR"),)
    return [Sentence("d", n, own, (), mentions) for n, own in enumerate(words)]


def shifted(model, by):
    """The same predictor with other scores."""
    own = predictor(model)
    return replace(own, scorer=lambda batch: own.scorer(batch) + by)


@pytest.mark.parametrize("scheme", GRIDS)
def test_teachers_teach_the_mean_of_their_probabilities(tiny, scheme):
    model = tiny(scheme)
    size = len(model.scheme.tags)
    bias = np.linspace(-2, 2, size, dtype=np.float32)
    teachers = [predictor(model), shifted(model, bias)]
    given = sentences(*WORDS)
    found = Teachers(teachers, model.scheme).soft_tags(given)
    assert [*found] == [0, 1, 2]
    for n, words in enumerate(WORDS):
        grids = [own.grids(own.prepare([given[n]]).inputs)[0].probabilities for own in teachers]
        mean = np.mean(grids, axis=0)
        if model.scheme.tag_space is TagSpace.EXCLUSIVE_GRID:
            mean = mean[..., 1:]
        for group in model.scheme.groups:
            triangle = {"both": np.asarray, "upper": np.triu, "lower": np.tril}[group.triangle]
            outside = ~triangle(np.ones(mean.shape[:2], dtype=bool))
            mean[outside, group.start : group.stop] = 0
        np.testing.assert_allclose(found[n].grid(len(words)), mean, atol=1.1e-3)


def test_the_types_of_a_teacher_may_stand_in_another_order(tiny):
    model = tiny()
    own = predictor(model)
    other = replace(model.scheme, labels=tuple(reversed(model.scheme.labels)))
    order = [other.tags.index(tag) for tag in model.scheme.tags]
    moved = replace(
        own, scheme=other, scorer=lambda batch: own.scorer(batch)[..., np.argsort(order)]
    )
    given = sentences(*WORDS)
    first, second = (Teachers([t], model.scheme).soft_tags(given) for t in (own, moved))
    for n, words in enumerate(WORDS):
        np.testing.assert_array_equal(first[n].grid(len(words)), second[n].grid(len(words)))


def test_tags_of_one_name_are_told_apart(tiny):
    """The gap of `B` is called as the segment between others of `N-B`."""
    scheme = make_scheme("span_grid", ("B", "N-B"))
    assert len({*scheme.tags}) < len(scheme.tags)
    scores = np.linspace(-4, 4, len(scheme.tags), dtype=np.float32)
    own = replace(
        predictor(tiny("span_grid")),
        scheme=scheme,
        scorer=lambda batch: np.tile(scores, (*batch.word_subwords.shape[:2], 4, 1)),
    )
    given = sentences(WORDS[0])
    found = Teachers([own], scheme).soft_tags(given)[0].grid(len(WORDS[0]))
    np.testing.assert_allclose(found[0, 3], 1 / (1 + np.exp(-scores)), atol=1e-3)


def student(model, weight, *more):
    settings = resolve(
        preset="w2ner",
        options={"system": model.system},
        assignments=[f"optimisation.distillation={weight}", *more],
    )
    return TagSystem(model, settings)


@pytest.mark.parametrize("scheme", GRIDS)
def test_with_the_whole_weight_the_annotations_do_not_matter(tiny, scheme):
    model = tiny(scheme)
    model.tagger.eval()

    def loss(weight, mentions):
        system = student(model, weight)
        system.learn_from([shifted(model, 0.5)])
        given = [replace(own, mentions=mentions) for own in sentences(*WORDS)]
        examples = system.prepare(given).inputs
        system.learn_from([])
        assert all(map(system.has_teachers, examples))
        assert not any(map(system.has_teachers, system.prepare(given).inputs))
        return system.loss({}, **system.collate(examples)).total.item()

    one, other = (Mention((0, 1), "ADR"),), ()
    assert loss(1.0, one) == pytest.approx(loss(1.0, other), rel=1e-6)
    assert loss(0.5, one) != pytest.approx(loss(0.5, other), rel=1e-4)


def test_what_is_read_through_windows_is_learnt_from_its_tags_alone(tiny):
    model = tiny()
    system = student(model, 0.5)
    assert isinstance(system, Student)
    system.learn_from([predictor(model)])
    long = sentences(WORDS[0], ("pain",) * 60)
    examples = system.prepare(long).inputs
    assert len(examples) > 2
    assert [system.has_teachers(own) for own in examples] == [True, *[False] * (len(examples) - 1)]
    batch = system.collate(examples[1:])
    valid = batch["tags"] != IGNORED
    tags = nn.functional.one_hot(batch["tags"].clamp(min=0), len(model.scheme.tags))[..., 1:]
    torch.testing.assert_close(batch["soft"][valid], tags[valid].float())


def test_cells_in_which_no_tag_is_probable_are_not_kept():
    grid = np.zeros((2, 2, 3))
    grid[0, 1, 2], grid[1, 0, 0], grid[1, 1] = LEAST, 0.99 * LEAST, (0.25, 0.5, 0)
    kept = SoftTags.of(grid)
    assert kept.cells.tolist() == [1, 3]
    again = kept.grid(2)
    assert again[1].tolist() == [[0, 0, 0], [0.25, 0.5, 0]]
    assert again[0, 0].tolist() == [0, 0, 0]
    assert again[0, 1].tolist() == pytest.approx([0, 0, LEAST], rel=1e-3)
