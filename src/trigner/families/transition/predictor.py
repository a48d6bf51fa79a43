"""Runs a parser: inputs to parses, parses to mentions with scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trigner.batches import Example
from trigner.families.core import SMALLEST_SCORE, WordPredictor
from trigner.families.transition.parser import Rules, words_of
from trigner.mentions import Mention, ScoredMention
from trigner.systems import Prediction

if TYPE_CHECKING:
    from trigner.families.transition.decoding import Parse
    from trigner.families.transition.network import TransitionNetwork


@dataclass(frozen=True)
class TransitionPredictor(WordPredictor["Parse"]):
    """Parses sentences; a mention's score is the product of the probabilities of its actions.

    These are the SHIFT of each of its words, the reductions that merged them, COPY where it is one,
    and its COMPLETE. Logits are divided by `temperature`, which changes scores and no mention.
    """

    network: TransitionNetwork
    labels: tuple[str, ...]
    rules: Rules
    beam_size: int = 1

    def outputs(self, inputs: Sequence[Example]) -> list[Parse]:
        """The parse of each input."""
        import torch

        from trigner.families.core import batch_tensors, evaluating
        from trigner.families.transition.decoding import parses

        with evaluating(self.network) as device:
            batch = batch_tensors(self.inputs.collate(inputs), device)
            words, inside = self.network.word_states(**batch)
            with torch.autocast(device.type, enabled=False):  # as in training
                return parses(self.network, words.float(), inside, self.rules, self.beam_size)

    def prediction(self, example: Example, output: Parse, temperature: float) -> Prediction:
        """The mentions that were completed, each once, with its best score."""
        logs = output.log_probabilities(temperature)
        best: dict[Mention, float] = {}
        for each in output.found:
            mention = Mention(words_of(each.words), self.labels[each.label])
            score = float(np.exp(logs[list(each.steps)].sum()))
            best[mention] = max(score, best.get(mention, SMALLEST_SCORE))
        scored = [ScoredMention(mention, score) for mention, score in best.items()]
        scored.sort(key=lambda each: (-each.score, each.mention))
        return Prediction.of(example, scored, bounded=output.bounded)
