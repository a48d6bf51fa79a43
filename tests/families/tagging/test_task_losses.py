from __future__ import annotations

import math
from itertools import product
from types import SimpleNamespace

import pytest
import torch

from trigner.batches.collation import IGNORED
from trigner.families.tagging.task_losses import (
    CELL_LOSSES,
    binary_loss,
    sampled,
    task_loss,
    zero_threshold_loss,
)
from trigner.families.tagging.task_settings import MultiLabelTask
from trigner.schemes.scheme import TagGroup, TagSpace


def scheme(triangle="upper"):
    groups = (TagGroup("links", 0, 2), TagGroup("spans", 2, 3, triangle=triangle))
    return SimpleNamespace(tag_space=TagSpace.MULTI_LABEL_GRID, groups=groups)


def grid(lengths=(2, 3)):
    """Random logits and tags of two sentences, padding marked."""
    torch.manual_seed(0)
    size = max(lengths)
    tags = torch.full((len(lengths), size, size, 3), IGNORED, dtype=torch.int8)
    for row, own in enumerate(lengths):
        tags[row, :own, :own] = torch.randint(0, 2, (own, own, 3), dtype=torch.int8)
    return torch.randn(tags.shape), tags


def zero_threshold_naive(scores, tags):
    own = sum(math.exp(-s) for s, t in zip(scores, tags, strict=True) if t)
    others = sum(math.exp(s) for s, t in zip(scores, tags, strict=True) if not t)
    return math.log(1 + own) + math.log(1 + others)


def binary_naive(scores, tags):
    return sum(
        math.log(1 + math.exp(-s if t else s)) for s, t in zip(scores, tags, strict=True)
    ) / (len(scores))


NAIVE = {"zero_threshold": zero_threshold_naive, "binary": binary_naive}


@pytest.mark.parametrize("kind", CELL_LOSSES)
@pytest.mark.parametrize("first", [0.5, 0.8])
@pytest.mark.parametrize("triangle", ["upper", "lower"])
def test_a_grid_with_several_tags_a_cell(kind, first, triangle):
    logits, tags = grid()
    expected = 0.0
    for group, weight in zip(scheme(triangle).groups, (first, 1 - first), strict=True):
        cells = [
            (b, i, j)
            for b, n in enumerate((2, 3))
            for i, j in product(range(n), repeat=2)
            if group.triangle == "both" or i == j or (i < j) == (triangle == "upper")
        ]
        own = slice(group.start, group.stop)
        losses = [NAIVE[kind](logits[c][own].tolist(), tags[c][own].tolist()) for c in cells]
        expected += weight * sum(losses) / len(losses)
    settings = MultiLabelTask(multi_label=kind, first_group=first)
    assert float(task_loss(scheme(triangle), settings)(logits, tags)) == pytest.approx(
        expected, rel=1e-5
    )


def test_padding_and_the_lower_half_get_no_gradient():
    logits, tags = grid()
    logits.requires_grad_()
    task_loss(scheme(), MultiLabelTask())(logits, tags).backward()
    assert not logits.grad[0, 2].any()
    assert not logits.grad[0, :, 2].any()
    assert not logits.grad[1, 2, 0, 2]
    assert logits.grad[1, 2, 0, :2].all()


def test_sure_and_right_costs_nothing():
    tags = torch.tensor([[1, 0, 0], [0, 0, 0], [1, 1, 1]])
    for loss in CELL_LOSSES.values():
        assert float(loss((tags * 2.0 - 1) * 50, tags)) == pytest.approx(0, abs=1e-6)


def test_a_cell_without_tags():
    scores, none = torch.tensor([[0.3, -1.0]]), torch.zeros(1, 2)
    expected = math.log(1 + math.exp(0.3) + math.exp(-1))
    assert float(zero_threshold_loss(scores, none)) == pytest.approx(expected)


@pytest.mark.parametrize("loss", [zero_threshold_loss, binary_loss])
def test_no_cell_at_all(loss):
    assert float(loss(torch.zeros(0, 3), torch.zeros(0, 3))) == 0


def test_sampling_keeps_every_tag_and_a_share_of_the_rest():
    torch.manual_seed(0)
    inside = torch.ones(1, 100, 100, dtype=torch.bool).triu()
    tags = torch.zeros(1, 100, 100, 2)
    tags[0, 3, 70:, 1] = 1
    kept = sampled(inside, tags, 0.3)
    assert kept[0, 3, 70:].all()
    assert not (kept & ~inside).any()
    others = inside & ~(tags > 0).any(-1)
    assert 0.27 < float((kept & others).sum() / others.sum()) < 0.33
    assert sampled(inside, tags, 1.0) is inside


def test_the_cross_entropy_of_cells_is_the_mean_over_valid_ones():
    torch.manual_seed(3)
    logits = torch.randn(2, 3, 3, 4)
    tags = torch.tensor(
        [[[0, 1, 0], [0, 0, 3], [0, 0, 0]], [[2, 0, -100], [0, 0, -100], [-100] * 3]]
    )
    scheme = SimpleNamespace(tag_space=TagSpace.EXCLUSIVE_GRID)
    total = count = 0.0
    for place in product(range(2), range(3), range(3)):
        tag = int(tags[place])
        if tag != IGNORED:
            total += float(-logits[place].log_softmax(-1)[tag])
            count += 1
    assert float(task_loss(scheme)(logits, tags)) == pytest.approx(total / count)
