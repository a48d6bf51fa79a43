"""R-drop: what two passes of a batch with different dropout make of the tags shall be alike.

Wu et al., R-Drop: regularized dropout for neural networks, NeurIPS 2021: half the sum of the
Kullback-Leibler divergences of each pass from the other, on top of the loss of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from trigner.batches import IGNORED
from trigner.schemes import Scheme, TagSpace
from trigner.tagging.task_losses import mean_over_groups

Divergence = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Two passes' scores of a batch's tags in single precision, `[..., C]`, and the tags, `IGNORED` in
padding, to a scalar: the mean over the valid cells (words), each counting alike."""


@dataclass(frozen=True)
class RDrop:
    """How far two passes are apart, and what that counts in the loss."""

    weight: float
    divergence: Divergence


def r_drop(scheme: Scheme, weight: float) -> RDrop | None:
    """R-drop for a scheme's tags; None with weight 0."""
    return RDrop(weight, DIVERGENCES[scheme.tag_space](scheme)) if weight else None


def _exclusive(scheme: Scheme) -> Divergence:
    def divergence(one: Tensor, other: Tensor, tags: Tensor) -> Tensor:
        valid = tags != IGNORED
        return exclusive_divergence(one[valid], other[valid]).mean()

    return divergence


def _multi_label(scheme: Scheme) -> Divergence:
    """Summed over the tags of a cell: together they are one distribution of independent tags."""

    def divergence(one: Tensor, other: Tensor, tags: Tensor) -> Tensor:
        def of_group(inside: Tensor, own: slice) -> Tensor:
            return independent_divergence(one[inside][:, own], other[inside][:, own]).sum()

        return mean_over_groups(scheme, tags, of_group)

    return divergence


def exclusive_divergence(one: Tensor, other: Tensor) -> Tensor:
    """`(KL(p||q) + KL(q||p)) / 2`, `[N]`, of the softmaxes of scores `[N, C]`.

    Which is half the sum of `(p - q) (log p - log q)`.
    """
    p, q = functional.log_softmax(one, dim=1), functional.log_softmax(other, dim=1)
    return ((p.exp() - q.exp()) * (p - q)).sum(dim=1) / 2


def independent_divergence(one: Tensor, other: Tensor) -> Tensor:
    """The same, `[N]`, of tags that are there or not, each with the logistic of its score `[N, C]`.

    The logarithms of both outcomes together differ as the scores do.
    """
    return ((one.sigmoid() - other.sigmoid()) * (one - other)).sum(dim=1) / 2


DIVERGENCES: Mapping[TagSpace, Callable[[Scheme], Divergence]] = {
    TagSpace.EXCLUSIVE_GRID: _exclusive,
    TagSpace.MULTI_LABEL_GRID: _multi_label,
    TagSpace.SEQUENCE: _exclusive,
}
"""One line a tag space."""
