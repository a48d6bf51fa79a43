"""Runs a parser: inputs to parses, parses to mentions with scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from trigner.batches import EncoderInputs, Example, Prepared
from trigner.mentions import Mention, ScoredMention, Sentence
from trigner.systems import Prediction
from trigner.transition.parser import Rules, words_of

if TYPE_CHECKING:
    from trigner.transition.decoding import Parse
    from trigner.transition.network import TransitionNetwork


@dataclass(frozen=True)
class TransitionPredictor:
    """Parses sentences; a mention's score is the product of the probabilities of its actions.

    These are the SHIFT of each of its words, the reductions that merged them, COPY where it is one,
    and its COMPLETE. Logits are divided by `temperature`, which changes scores and no mention.
    """

    network: TransitionNetwork
    labels: tuple[str, ...]
    rules: Rules
    inputs: EncoderInputs
    beam_size: int = 1
    temperature: float = 1.0

    def prepare(self, sentences: Sequence[Sentence]) -> Prepared:
        """The sentences as inputs that the encoder can hold."""
        return self.inputs.prepare(sentences)

    def predict(self, inputs: Sequence[Example]) -> list[Prediction]:
        """The mentions of each input, as mentions of its sentence."""
        return self.at_temperatures(inputs, [self.temperature])[self.temperature]

    def at_temperatures(
        self, inputs: Sequence[Example], temperatures: Iterable[float]
    ) -> dict[float, list[Prediction]]:
        """What `predict` gives with each of these temperatures, from one pass of the network."""
        parses = self.parses(inputs)
        return {
            temperature: [
                self._prediction(*each, temperature) for each in zip(inputs, parses, strict=True)
            ]
            for temperature in temperatures
        }

    def with_temperature(self, temperature: float) -> TransitionPredictor:
        """The same with another temperature."""
        return replace(self, temperature=temperature)

    def parses(self, inputs: Sequence[Example]) -> list[Parse]:
        """The parse of each input."""
        from trigner.networks import batch_tensors, evaluating
        from trigner.transition.decoding import parses

        if not inputs:
            return []
        with evaluating(self.network) as device:
            batch = batch_tensors(self.inputs.collate(inputs), device)
            words, inside = self.network.word_states(**batch)
            return parses(self.network, words.float(), inside, self.rules, self.beam_size)

    def _prediction(self, example: Example, parse: Parse, temperature: float) -> Prediction:
        logs = parse.log_probabilities(temperature)
        best: dict[Mention, float] = {}
        for each in parse.found:
            mention = Mention(words_of(each.words), self.labels[each.label])
            score = float(np.exp(logs[list(each.steps)].sum()))
            best[mention] = max(score, best.get(mention, SMALLEST))
        scored = [ScoredMention(mention, score) for mention, score in best.items()]
        scored.sort(key=lambda each: (-each.score, each.mention))
        return Prediction.of(example, scored, bounded=parse.bounded)


SMALLEST = float(np.finfo(np.float64).tiny)
"""No score is zero: that of a mention of very many words may be too small to be written."""
