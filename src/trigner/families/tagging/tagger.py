"""What every network offers: subwords of a batch of sentences -> a score for each tag."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, cast

from torch import Tensor, nn

from trigner.encoders import Encoder
from trigner.families.core import WordNetwork
from trigner.families.tagging.tag_weights import TagWeights


@dataclass(frozen=True, slots=True)
class TagScores:
    """Logits of a batch and the states that they come from.

    `logits` are `[B, L, L, C]` for a grid of word pairs, `[B, L, C]` for a sequence of words; cells
    and words in padding are meaningless. `states` is what the tagger's `pair_states` reads.
    """

    logits: Tensor
    states: Tensor


class Tagger(nn.Module, ABC):
    """A network of one scheme. `encoder` is its pretrained part, with a learning rate of its own.

    `forward` takes the arrays of `batches.Batch` in their order and gives `TagScores`.
    """

    encoder: Encoder

    def __call__(
        self, input_ids: Tensor, attention_mask: Tensor, word_subwords: Tensor, lengths: Tensor
    ) -> TagScores:
        """Scores of a batch."""
        return cast(TagScores, super().__call__(input_ids, attention_mask, word_subwords, lengths))

    @abstractmethod
    def tag_weights(self) -> list[TagWeights]:
        """All weights that are those of single tags; equal settings give them in equal order."""


class PairTagger(WordNetwork, Tagger):
    """A tagger that scores pairs of words.

    `projection` is what a training puts on the pair states for its triplets; no model has it.
    """

    def __init__(self, **words: Any) -> None:
        super().__init__(**words)
        self.projection: nn.Module | None = None

    @property
    @abstractmethod
    def pair_state_size(self) -> int:
        """The `D` of `pair_states`."""

    @abstractmethod
    def initialise_bias(self, scores: Tensor) -> None:
        """Let every pair of words start near these scores of the tags, `[C]`."""

    @abstractmethod
    def pair_states(
        self, scores: TagScores, sentences: Tensor, rows: Tensor, columns: Tensor
    ) -> Tensor:
        """What the last layer before the tags reads at cells, `[N, D]`.

        Cells are `sentences`, `rows`, `columns`, `[N]` each.
        """
