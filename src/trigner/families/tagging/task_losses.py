"""The loss of a batch's tags, by the scheme's tag space."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional

from trigner.batches import IGNORED
from trigner.families.tagging.sequence_loss import SequenceLoss
from trigner.families.tagging.task_settings import CorroTask, MultiLabelTask
from trigner.schemes import Scheme, SequenceScheme, TagSpace, Triangle

TaskLoss = Callable[[Tensor, Tensor], Tensor]
"""Logits of a batch in single precision and its tags, `IGNORED` in padding, to a scalar."""


def task_loss(scheme: Scheme, settings: Any = None) -> TaskLoss:
    """What a training with this scheme minimises, triplets apart."""
    return TASK_LOSSES[scheme.tag_space](scheme, settings)


def _exclusive_grid(scheme: Scheme, settings: Any) -> TaskLoss:
    return cell_cross_entropy


def _multi_label_grid(scheme: Scheme, settings: MultiLabelTask) -> TaskLoss:
    cell_loss = CELL_LOSSES[settings.multi_label]
    weights = (settings.first_group, 1 - settings.first_group)
    groups = list(zip(scheme.groups, weights, strict=True))

    def loss(logits: Tensor, tags: Tensor) -> Tensor:
        valid = tags[..., 0] != IGNORED
        parts = []
        for group, weight in groups:
            inside = TRIANGLES[group.triangle](valid)
            chosen = sampled(inside, tags[..., group.start : group.stop], settings.negative_rate)
            own = slice(group.start, group.stop)
            parts.append(weight * cell_loss(logits[chosen][:, own], tags[chosen][:, own]))
        return torch.stack(parts).sum()

    return loss


def _sequence(scheme: Scheme, settings: CorroTask | None) -> TaskLoss:
    return SequenceLoss(
        cast(SequenceScheme, scheme).grammar, (settings or CorroTask()).partial_labels
    )


def cell_cross_entropy(logits: Tensor, tags: Tensor) -> Tensor:
    """Cross-entropy, the mean over all valid cells, special words' included.

    `logits [B, L, L, C]`, `tags [B, L, L]`.
    """
    return functional.cross_entropy(logits.flatten(0, 2), tags.flatten(), ignore_index=IGNORED)


def zero_threshold_loss(logits: Tensor, tags: Tensor) -> Tensor:
    """Every tag of a cell above 0, every other below: the mean over cells of two soft maxima.

    `log(1 + sum_other exp(s)) + log(1 + sum_tags exp(-s))`; `logits`, `tags [N, C]`. Su et al.,
    ZLPR, 2022; TOE's loss.
    """
    there = tags > 0
    zero = logits.new_zeros(len(logits), 1)
    others = torch.cat([zero, logits.masked_fill(there, -torch.inf)], dim=1)
    own = torch.cat([zero, (-logits).masked_fill(~there, -torch.inf)], dim=1)
    return (others.logsumexp(dim=1) + own.logsumexp(dim=1)).sum() / max(1, len(logits))


def binary_loss(logits: Tensor, tags: Tensor) -> Tensor:
    """Binary cross-entropy, the mean over cells and tags; `logits`, `tags [N, C]`. MAC's loss."""
    wanted = tags.to(logits.dtype)
    total = functional.binary_cross_entropy_with_logits(logits, wanted, reduction="sum")
    return total / max(1, logits.numel())


def sampled(inside: Tensor, tags: Tensor, negative_rate: float) -> Tensor:
    """The cells `[B, L, L]` of `inside` that a loss is taken at: those with tags, some others.

    Each cell without any of `tags [B, L, L, C]` is kept with the probability `negative_rate`.
    """
    if negative_rate == 1:
        return inside
    kept = torch.rand(inside.shape, device=inside.device) < negative_rate
    return inside & (kept | (tags > 0).any(dim=-1))


def mean_over_groups(
    scheme: Scheme, tags: Tensor, sum_of: Callable[[Tensor, slice], Tensor]
) -> Tensor:
    """What `sum_of` gives of each group of tags, summed, by the number of all valid cells.

    It is given the cells `[B, L, L]` in which the group's tags occur, and their classes: what is
    scored elsewhere is never learnt and never read. Over all cells, those without a tag too, as
    batches are weighted by all of them. `tags [B, L, L, C]`.
    """
    valid = tags[..., 0] != IGNORED
    sums = [
        sum_of(TRIANGLES[group.triangle](valid), slice(group.start, group.stop))
        for group in scheme.groups
    ]
    return torch.stack(sums).sum() / valid.sum()


TRIANGLES: Mapping[Triangle, Callable[[Tensor], Tensor]] = {
    "both": lambda cells: cells,
    "upper": torch.triu,
    "lower": torch.tril,
}

CELL_LOSSES: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "zero_threshold": zero_threshold_loss,
    "binary": binary_loss,
}

TASK_LOSSES: Mapping[TagSpace, Callable[[Scheme, Any], TaskLoss]] = {
    TagSpace.EXCLUSIVE_GRID: _exclusive_grid,
    TagSpace.MULTI_LABEL_GRID: _multi_label_grid,
    TagSpace.SEQUENCE: _sequence,
}
"""One line a tag space."""
