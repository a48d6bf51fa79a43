"""Runs a tagger: sentences to inputs, inputs to logits, logits to mentions. Needs no PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trigner.arrays import Floats, Logits, Tags, logistic
from trigner.batches import Batch, Example
from trigner.families.core import WordPredictor, check_finite
from trigner.mentions import Mention
from trigner.schemes import Cell, Explaining, Scheme, TagSpace
from trigner.systems import Grid, Prediction

Scorer = Callable[[Batch], Logits]
"""A batch to logits, special words included: `[B, L, L, C]`, of a sequence scheme `[B, L, C]`."""


@dataclass(frozen=True)
class TagPredictor(WordPredictor[Logits]):
    """Predicts with a scheme from a network's logits, which are divided by `temperature`.

    That makes scores probabilities (`pipeline.calibration`) and changes no mention.
    """

    scorer: Scorer
    scheme: Scheme

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that it can find."""
        return self.scheme.labels

    @property
    def tags(self) -> tuple[str, ...]:
        """The scheme's tags, in the order of their classes."""
        return self.scheme.tags

    def outputs(self, inputs: Sequence[Example]) -> list[Logits]:
        """Each input's logits without padding, `[L, L, C]` or `[L, C]`, special words first.

        Raises InputError when one is not finite.
        """
        scores = self.scorer(self.inputs.collate(inputs))
        axes = self.scheme.tag_space.word_axes
        lengths = [self.inputs.offset + each.length for each in inputs]
        found = [own[(slice(n),) * axes] for own, n in zip(scores, lengths, strict=True)]
        check_finite(*found)
        return found

    def prediction(self, example: Example, output: Logits, temperature: float) -> Prediction:
        """The mentions of a window that it answers for, as mentions of its sentence."""
        decoding = self.scheme.decode(output / temperature)
        bounded, offset = not decoding.complete, self.inputs.offset
        return Prediction.of(example, decoding.mentions, bounded=bounded, offset=offset)

    def grids(self, inputs: Sequence[Example]) -> list[Grid]:
        """The word-pair grid of each input, for schemes that tag pairs of words."""
        return [self._grid(*each) for each in zip(inputs, self.outputs(inputs), strict=True)]

    def probabilities(self, inputs: Sequence[Example]) -> list[Floats]:
        """`Grid.probabilities` of each input, without its mentions."""
        return [self._probabilities(logits / self.temperature) for logits in self.outputs(inputs)]

    def _probabilities(self, logits: Logits) -> Floats:
        words = slice(self.inputs.offset, None)
        return PROBABILITIES[self.scheme.tag_space](logits[words, words])

    def _grid(self, example: Example, logits: Logits) -> Grid:
        whole = logits / self.temperature
        mentions = self.prediction(example, logits, self.temperature).mentions
        cells = self._cells([scored.mention for scored in mentions], whole)
        return Grid(self.scheme.tags, self._probabilities(whole), mentions, tuple(cells))

    def _cells(self, mentions: Sequence[Mention], logits: Logits) -> list[tuple[Cell, ...]]:
        """Of each mention the cells whose probabilities, multiplied, are its path's score.

        All logits that were decoded are looked at: what stands at special words can decide what a
        mention rests on.
        """
        start = self.inputs.offset
        moved = [mention.shifted(start) for mention in mentions]
        if isinstance(self.scheme, Explaining):
            found = self.scheme.evidence(moved, logits)
        else:
            found = [_tagged(self.scheme.encode([m], len(logits)).tags) for m in moved]
        return [tuple((i - start, j - start, tag) for i, j, tag in own) for own in found]


def _tagged(tags: Tags) -> tuple[Cell, ...]:
    if tags.ndim == 2:
        return tuple((int(i), int(j), int(tags[i, j])) for i, j in np.argwhere(tags))
    return tuple((int(i), int(j), int(tag)) for i, j, tag in np.argwhere(tags))


def _softmax(logits: Logits) -> Floats:
    weights = np.exp(logits.astype(np.float64) - logits.max(axis=-1, keepdims=True))
    result: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return result


PROBABILITIES = {TagSpace.EXCLUSIVE_GRID: _softmax, TagSpace.MULTI_LABEL_GRID: logistic}
"""Logits of a sentence to probabilities, for the tag spaces that are grids."""
