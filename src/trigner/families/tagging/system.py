"""Tag schemes as systems: a scheme, its network, the tags' loss, triplets and a temperature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import torch

from trigner.batches import Example, Prepared, pad_tags
from trigner.encoders import choose_device
from trigner.families.core import WordSystem, check_init_from, saved_network
from trigner.families.tagging.bias_init import initialise_biases
from trigner.families.tagging.distillation import TaughtExample, Teachers, distillation, soft_grid
from trigner.families.tagging.model import Model, create, load
from trigner.families.tagging.objective import Objective
from trigner.families.tagging.predictor import TagPredictor
from trigner.families.tagging.tagger import PairTagger
from trigner.families.tagging.task_losses import task_loss
from trigner.families.tagging.torch_runtime import torch_predictor
from trigner.families.tagging.transfer import for_labels
from trigner.machine import counted
from trigner.mentions import Sentence
from trigner.schemes import decoded_tags
from trigner.systems import BiasedOptimisation, Losses, Predictor, SavedState, system_spec
from trigner.triplets import Candidates, ProjectionHead, TripletSettings, candidates, triplet_count
from trigner.triplets import collate as collate_candidates


def build(settings: Any, labels: tuple[str, ...], init_from: Path | None = None) -> TagSystem:
    """The system of `training.Settings`, fresh or with the weights of the folder `init_from`.

    A model that has all these types keeps its own; any other gives its weights to these types.
    Raises InputError when the encoder cannot be had, or the model is not of these settings.
    """
    if init_from is None:
        spec = system_spec(settings.system)
        return TagSystem(create(settings.encoder, spec.name, labels, settings.model), settings)
    check_init_from(init_from, settings, labels, any_types=True)
    model, taken_over = load(init_from), ""
    if not set(labels) <= set(model.scheme.labels):
        before = model.scheme.labels
        model, kept = for_labels(model, labels)
        taken_over = _in_words(kept, len(model.scheme.tags), before, labels)
    return TagSystem(model, settings, taken_over, fresh=False)


def _in_words(kept: int, tags: int, before: Sequence[str], labels: Sequence[str]) -> str:
    """What a model for types `before` has given to one for `labels`, of which some are new."""
    new = [label for label in labels if label not in before]
    left = [label for label in before if label not in labels]
    begin = "begins" if len(new) == 1 else "begin"
    start = f"with the mean of {', '.join(before)}" if len(before) > 1 else f"as {before[0]}"
    without = f"; left out: {', '.join(left)}" if left else ""
    return f"{kept} of {counted(tags, 'tag')} taken over; {', '.join(new)} {begin} {start}{without}"


class TagSystem(WordSystem):
    """A model with what its training minimises (`systems.System`).

    `taken_over` says what it has of a model for other types (`systems.TakingOver`). Biases are
    initialised only where a model is `fresh`.
    """

    def __init__(
        self, model: Model, settings: Any, taken_over: str = "", *, fresh: bool = True
    ) -> None:
        super().__init__(model.scheme.labels, model.tagger, model.tokenizer, model.inputs)
        self.model = model
        self.taken_over = taken_over
        triplets: TripletSettings = settings.triplets or TripletSettings(weight=0)
        if triplets.weight and triplets.source == "projection":
            tagger = cast(PairTagger, model.tagger)
            tagger.projection = ProjectionHead(tagger.pair_state_size)
        self.objective = Objective(
            model.tagger,
            task_loss(model.scheme, settings.task),
            triplets,
            decoded_tags(model.scheme),
        )
        self._distillation: float = settings.optimisation.distillation
        self._teachers: Teachers | None = None
        self._candidates = triplets if triplets.weight else None
        optimisation = settings.optimisation
        biased = isinstance(optimisation, BiasedOptimisation) and optimisation.bias_init
        self._bias_init = fresh and biased

    def learn_from(self, teachers: Sequence[Predictor]) -> None:
        """What these models make of its sentences joins the examples of `prepare` from now on."""
        scheme = self.model.scheme
        own = cast(Sequence[TagPredictor], teachers)
        self._teachers = Teachers(own, scheme) if own else None
        if own:
            self.objective.distillation = distillation(scheme, self._distillation)

    def has_teachers(self, example: Example) -> bool:
        """Whether an example has what teachers make of it."""
        return isinstance(example, TaughtExample)

    def prepare(self, sentences: Sequence[Sentence]) -> Prepared:
        """Examples that the encoder can hold, with what teachers make of whole sentences."""
        prepared = super().prepare(sentences)
        return prepared if self._teachers is None else self._teachers.teach(prepared, sentences)

    def inexpressible(self, sentences: Sequence[Sentence]) -> int:
        """How many mentions of the sentences the scheme's tags cannot express."""
        scheme = self.model.scheme
        return sum(len(scheme.encode(s.mentions, len(s.words)).lost) for s in sentences)

    def initialise(self, examples: Sequence[Example]) -> None:
        """Initialise output biases at the tags' shares of cells, if settings say so."""
        if self._bias_init and isinstance(self.model.tagger, PairTagger):
            initialise_biases(self.model, examples)

    def sizes(self, example: Example) -> Mapping[str, int]:
        """Cells (words where the scheme tags words), special words' included, and triplets."""
        length = example.length + self.inputs.offset
        sizes = {"cells": length**self.model.scheme.tag_space.word_axes}
        if self._candidates is not None:
            found = self._mined(example, self._candidates)
            sizes["triplets"] = triplet_count(found, self._candidates.selection)
        return sizes

    def _mined(self, example: Example, options: TripletSettings) -> Candidates:
        return candidates([m.words for m in example.mentions], example.length, options)

    def collate(self, examples: Sequence[Example]) -> dict[str, Any]:
        """The tagger's arrays, padded `tags`, `soft` ones of teachers, `candidates` of triplets."""
        scheme = self.model.scheme
        tags = [scheme.encode(e.mentions, e.length).tags for e in examples]
        padded = pad_tags(tags, word_axes=scheme.tag_space.word_axes, offset=self.inputs.offset)
        inputs: dict[str, Any] = {**self.tensors(examples), "tags": torch.from_numpy(padded)}
        if self.objective.distillation is not None:
            own = [soft_grid(scheme, *each) for each in zip(examples, tags, strict=True)]
            soft = pad_tags(own, word_axes=2, offset=self.inputs.offset)
            inputs["soft"] = torch.from_numpy(soft)
        if self._candidates is not None:
            mined = [self._mined(example, self._candidates) for example in examples]
            inputs["candidates"] = collate_candidates(mined)
        return inputs

    def loss(self, weights: Mapping[str, float], **batch: Any) -> Losses:
        """The tags' loss plus the triplet loss (paper, section 3)."""
        losses: Losses = self.objective(weights=weights, **batch)
        return losses

    def saved_state(self) -> SavedState:
        """As of all systems; what the triplets alone need is left out."""
        return saved_network(
            self.network, self.tokenizer, self.inputs.padding_id, without="projection."
        )

    def predictor(self, device: str = "auto") -> TagPredictor:
        """A predictor with the system's own weights, moved to the device."""
        return torch_predictor(self.model, choose_device(device))
