"""Knowledge distillation: a network learns what other models make of a sentence, beside its tags.

Hinton, Vinyals and Dean, Distilling the knowledge in a neural network, 2015. Several teachers teach
the mean of their probabilities, which are calibrated: so there is no further temperature.
`training.start` brings teachers and student together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from trigner.arrays import Floats, Integers, Tags
from trigner.batches import IGNORED, Example, Prepared, by_cost
from trigner.families.tagging.predictor import TagPredictor
from trigner.families.tagging.taggers import tagger_spec
from trigner.families.tagging.task_losses import TRIANGLES, mean_over_groups
from trigner.mentions import Sentence
from trigner.schemes import Scheme, TagSpace, typed_names

SENTENCES, CELLS = 32, 40_000
"""What a teacher reads at once, at most; a longer sentence alone."""

LEAST = 1e-3
"""Pairs of words in which no tag is as probable as this are not kept: they have none."""

SoftLoss = Callable[[Tensor, Tensor, Tensor], Tensor]
"""Logits of a batch in single precision `[B, L, L, C]`, its tags, `IGNORED` in padding, and the
teachers' probabilities of tags other than "none", to a scalar: the mean over the valid cells."""


@dataclass(frozen=True)
class Distillation:
    """What the teachers count in the loss of the tags, which themselves have the rest of 1."""

    weight: float
    loss: SoftLoss


def distillation(scheme: Scheme, weight: float) -> Distillation:
    """Distillation for a scheme that tags pairs of words."""
    return Distillation(weight, SOFT_LOSSES[scheme.tag_space](scheme))


@dataclass(frozen=True, slots=True, eq=False)
class SoftTags:
    """Probabilities of the tags in those cells of a sentence's grid that may have one.

    `cells [N]` are indices of the grid row by row, `probabilities [N, C]` in half precision. Where
    a cell has one of several tags, "none" is not among them: it has what is left of 1.
    """

    cells: Integers
    probabilities: NDArray[np.float16]

    @classmethod
    def of(cls, probabilities: Floats) -> SoftTags:
        """Of a whole grid `[L, L, C]`."""
        every = probabilities.reshape(-1, probabilities.shape[-1])
        cells = np.flatnonzero(every.max(axis=-1) >= LEAST)
        return cls(cells, every[cells].astype(np.float16))

    def grid(self, length: int) -> NDArray[np.float32]:
        """The grid of a sentence of so many words, `[L, L, C]`."""
        every = np.zeros((length * length, self.probabilities.shape[-1]), dtype=np.float32)
        every[self.cells] = self.probabilities
        return every.reshape(length, length, -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaughtExample(Example):
    """An example, and what teachers make of it."""

    soft_tags: SoftTags


class Teachers:
    """Models of a scheme's tags, that read the sentences which a student is to learn from."""

    def __init__(self, predictors: Sequence[TagPredictor], scheme: Scheme) -> None:
        self._scheme = scheme
        # Types may stand in another order, and two tags have one name: of `B` and `N-B`, say.
        make = tagger_spec(scheme.name).scheme
        tags = typed_names(make, scheme.labels)
        self._teachers = []
        for own in predictors:
            theirs = typed_names(make, own.labels)
            self._teachers.append((own, [theirs.index(tag) for tag in tags]))

    def teach(self, prepared: Prepared, sentences: Sequence[Sentence]) -> Prepared:
        """Examples that are whole sentences with what the teachers make of them."""
        soft = self.soft_tags(sentences)
        taught = (
            TaughtExample(
                **{own.name: getattr(e, own.name) for own in fields(e)}, soft_tags=soft[e.sentence]
            )
            if e.sentence in soft and e.length == len(sentences[e.sentence].words)
            else e
            for e in prepared.inputs
        )
        return replace(prepared, inputs=tuple(taught))

    def soft_tags(self, sentences: Sequence[Sentence]) -> dict[int, SoftTags]:
        """The mean of the teachers' probabilities, by the sentence's index.

        A sentence that one of them reads through windows is not among them.
        """
        sums: dict[int, Floats] = {}
        read = set(range(len(sentences)))
        for teacher, order in self._teachers:
            inputs = [
                own
                for own in teacher.prepare(sentences).inputs
                if own.length == len(sentences[own.sentence].words)
            ]
            read &= {own.sentence for own in inputs}
            for batch in by_cost([own.size for own in inputs], sentences=SENTENCES, cells=CELLS):
                chosen = [inputs[n] for n in batch]
                for own, found in zip(chosen, teacher.probabilities(chosen), strict=True):
                    sums[own.sentence] = sums.get(own.sentence, 0.0) + found[..., order]
        return {n: SoftTags.of(self._learnt(sums[n] / len(self._teachers))) for n in sorted(read)}

    def _learnt(self, probabilities: Floats) -> Floats:
        """Without "none", and 0 where a tag's group does not have it: nobody learns it there."""
        if self._scheme.tag_space is TagSpace.EXCLUSIVE_GRID:
            return probabilities[..., 1:]
        cells = torch.ones(probabilities.shape[:2], dtype=torch.bool)
        for group in self._scheme.groups:
            outside = ~TRIANGLES[group.triangle](cells).numpy()
            probabilities[outside, group.start : group.stop] = 0
        return probabilities


def soft_grid(scheme: Scheme, example: Example, tags: Tags) -> NDArray[np.float32]:
    """What a student learns of an example beside its tags, `[L, L, C]` without "none".

    Where no teacher reads it that is its tags once more.
    """
    if isinstance(example, TaughtExample):
        return example.soft_tags.grid(example.length)
    if scheme.tag_space is TagSpace.EXCLUSIVE_GRID:
        return np.eye(len(scheme.tags), dtype=np.float32)[tags][..., 1:]
    return tags.astype(np.float32)


def _exclusive(scheme: Scheme) -> SoftLoss:
    def loss(logits: Tensor, tags: Tensor, soft: Tensor) -> Tensor:
        valid = tags != IGNORED
        found, wanted = functional.log_softmax(logits[valid], dim=1), soft[valid]
        none = (1 - wanted.sum(dim=1, keepdim=True)).clamp(min=0)  # of half precision
        return -(torch.cat([none, wanted], dim=1) * found).sum(dim=1).mean()

    return loss


def _multi_label(scheme: Scheme) -> SoftLoss:
    """Binary cross-entropies, summed over the tags of a cell, where their group has them."""

    def loss(logits: Tensor, tags: Tensor, soft: Tensor) -> Tensor:
        def of_group(inside: Tensor, own: slice) -> Tensor:
            return functional.binary_cross_entropy_with_logits(
                logits[inside][:, own], soft[inside][:, own], reduction="sum"
            )

        return mean_over_groups(scheme, tags, of_group)

    return loss


SOFT_LOSSES: Mapping[TagSpace, Callable[[Scheme], SoftLoss]] = {
    TagSpace.EXCLUSIVE_GRID: _exclusive,
    TagSpace.MULTI_LABEL_GRID: _multi_label,
}
"""One line a tag space that is a grid."""
