"""What training sees of a system, and what everything that runs a model sees of it.

A `System` learns: the trainer collates examples with it, takes its loss and asks it for a
`Predictor`, which extraction, evaluation and the service run. Neither needs PyTorch to be named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from trigner.arrays import Floats
from trigner.batches import Example, Prepared
from trigner.mentions import ScoredMention, Sentence
from trigner.schemes import Cell

if TYPE_CHECKING:
    from torch import Tensor, nn


class Input(Protocol):
    """Words that are predicted on together: a sentence, or a window of a long one."""

    @property
    def sentence(self) -> int:
        """Index of the sentence among those that were prepared."""
        ...

    @property
    def size(self) -> int:
        """Words, special words included; inputs of similar sizes are predicted on together."""
        ...


@dataclass(frozen=True, slots=True)
class Prediction:
    """The mentions found in one input, as mentions of its sentence, best first.

    `bounded` is true when decoding hit a bound: then `mentions` may be incomplete.
    `on_special_words` counts mentions that touch the system's special words and were left out.
    """

    mentions: tuple[ScoredMention, ...]
    bounded: bool = False
    on_special_words: int = 0

    @classmethod
    def of(
        cls, example: Example, found: Iterable[ScoredMention], *, bounded: bool, offset: int = 0
    ) -> Prediction:
        """The mentions found in a window that it answers for, as mentions of its sentence.

        They count `offset` special words that come first.
        """
        mentions, on_special_words = [], 0
        for scored in found:
            if scored.mention.words[0] < offset:
                on_special_words += 1
            elif own := example.in_sentence(scored.mention.shifted(-offset)):
                mentions.append(ScoredMention(own, scored.score))
        return cls(tuple(mentions), bounded, on_special_words)


class Predictor(Protocol):
    """Runs a trained system. What it predicts on an input depends on that input only."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that it can find."""
        ...

    def prepare(self, sentences: Sequence[Sentence]) -> Prepared:
        """Inputs of sentences, in order."""
        ...

    def predict(self, inputs: Sequence[Any]) -> list[Prediction]:
        """One prediction for each input."""
        ...


class Calibrated(Predictor, Protocol):
    """A predictor whose scores depend on a temperature: the capability `calibration`."""

    def at_temperatures(
        self, inputs: Sequence[Any], temperatures: Iterable[float]
    ) -> Mapping[float, list[Prediction]]:
        """What `predict` gives at each temperature."""
        ...

    def with_temperature(self, temperature: float) -> Predictor:
        """The same with another temperature."""
        ...


@dataclass(frozen=True, slots=True)
class Grid:
    """`probabilities [L, L, C]` of the tags for each pair of a sentence's words, and its mentions.

    A pair has one of the tags or, where the scheme says so, each of them with its own probability.
    `cells` are, for each mention, those that its score is the product of.
    """

    tags: tuple[str, ...]
    probabilities: Floats
    mentions: tuple[ScoredMention, ...]
    cells: tuple[tuple[Cell, ...], ...]


@runtime_checkable
class GridView(Predictor, Protocol):
    """A predictor that shows how it scores pairs of words: the capability `grid`."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of a pair of words, in the order of their classes."""
        ...

    def grids(self, inputs: Sequence[Any]) -> list[Grid]:
        """The word-pair grid of each input."""
        ...


CAPABILITY_PROTOCOLS: Mapping[str, type[Any]] = {
    "calibration": Calibrated,
    "grid": GridView,
}
"""What the predictor of a system with one of these capabilities has besides `Predictor`."""


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """The loss of a batch, a scalar, and its parts for the log (`loss_tags`, ...)."""

    total: Tensor
    parts: Mapping[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class SavedState:
    """What a model folder holds of a system besides what every model has.

    `files` maps names to functions that write the file at the path they are given; `state` is
    stored in the model description as JSON.
    """

    files: Mapping[str, Callable[[Path], object]]
    state: Mapping[str, Any] = field(default_factory=dict)


class System(Protocol):
    """A system as training sees it."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that it learns."""
        ...

    @property
    def network(self) -> nn.Module:
        """What has its parameters; one without parameters has learnt all it can in `initialise`."""
        ...

    def prepare(self, sentences: Sequence[Sentence]) -> Prepared:
        """Training examples of sentences: inputs that have `mentions` too, those they hold."""
        ...

    def inexpressible(self, sentences: Sequence[Sentence]) -> int:
        """How many mentions of the sentences the system cannot express at all."""
        ...

    def initialise(self, examples: Sequence[Any]) -> None:
        """Take what is to be known of the training examples before the first update."""
        ...

    def sizes(self, example: Any) -> Mapping[str, int]:
        """How much of each part of the loss an example makes, such as `{"cells": 400}`.

        Batches are weighted by them (`training.weighting`).
        """
        ...

    def collate(self, examples: Sequence[Any]) -> dict[str, Any]:
        """A batch of examples, as keyword arguments of `loss`."""
        ...

    def loss(self, weights: Mapping[str, float], **batch: Any) -> Losses:
        """The loss of a batch, each part times the weight of its name in `sizes` (default 1)."""
        ...

    def parameter_groups(self, optimisation: Any) -> list[dict[str, Any]]:
        """Parameters with `lr` and `weight_decay`, as PyTorch's optimisers take them.

        `optimisation` are `training.settings.OptimisationSettings`.
        """
        ...

    def predictor(self, device: str = "auto") -> Predictor:
        """A predictor that shares the system's weights."""
        ...

    def saved_state(self) -> SavedState:
        """What a model folder needs so that the system's loader can build its predictor."""
        ...


@runtime_checkable
class TakingOver(Protocol):
    """A system that can begin with the weights of a model for other entity types."""

    @property
    def taken_over(self) -> str:
        """Which of them it has, for the first lines of a training; empty where the types fit."""
        ...


@runtime_checkable
class Student(Protocol):
    """A system that can learn from other models, too: the capability `teachers`."""

    def learn_from(self, teachers: Sequence[Predictor]) -> None:
        """What they make of its sentences joins the examples of `prepare` from now on.

        They are of the same system and entity types. With none of them nothing joins any more.
        """
        ...

    def has_teachers(self, example: Any) -> bool:
        """Whether an example has what teachers make of it."""
        ...
