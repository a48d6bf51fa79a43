"""Runs a tuned language model: sentences to prompts, prompts to texts, texts to mentions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trigner.arrays import Floats, log_softmax
from trigner.batches import Example
from trigner.families.core import SMALLEST_SCORE, WordPredictor, evaluating
from trigner.families.generative.network import Generated, GenerativeNetwork
from trigner.families.generative.spelling import Ids
from trigner.families.generative.texts import Texts
from trigner.families.generative.writing import Writing
from trigner.mentions import Mention, ScoredMention
from trigner.systems import Prediction


@dataclass(frozen=True)
class Written:
    """A text, its mentions with the places of their subwords, and how it was scored.

    `scores` has for each subword those of all that were allowed, its own at `chosen`.
    """

    ids: Ids
    mentions: list[tuple[Mention, tuple[int, int]]]
    scores: list[Floats]
    chosen: list[int]
    complete: bool


@dataclass(frozen=True)
class GenerativePredictor(WordPredictor[Written]):
    """Predicts the mentions of the text that is written.

    A mention's score is the product of its subwords' probabilities, each given all before it and
    among those that were allowed. Scores of subwords are divided by `temperature` for that; the
    search for the text is not, so a temperature changes no mention.
    """

    network: GenerativeNetwork
    texts: Texts

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that it can find."""
        return self.texts.speller.labels

    def outputs(self, inputs: Sequence[Example]) -> list[Written]:
        """The text of each input and how it was scored."""
        writings = [self.texts.writing(example) for example in inputs]
        prompts = [writing.spelling.prompt for writing in writings]
        settings = self.texts.settings
        with evaluating(self.network):
            found = self.network.write(
                prompts,
                writings,
                [self.texts.limit(writing.spelling) for writing in writings],
                beam_size=settings.beam_size,
                length_penalty=settings.length_penalty,
            )
        return [self._written(*own) for own in zip(writings, found, strict=True)]

    def _written(self, writing: Writing, found: Generated) -> Written:
        text = found.ids
        along = writing.along(text)
        chosen = [ids.index(id) for ids, id in zip(along, text, strict=True)]
        mentions = self.texts.decode(writing, text)
        complete = text[-1:] == (writing.spelling.end,)
        return Written(text, mentions, found.scores, chosen, complete)

    def prediction(self, example: Example, output: Written, temperature: float) -> Prediction:
        """The mentions of a text."""
        steps = np.array(
            [
                log_softmax(own / temperature)[place]
                for own, place in zip(output.scores, output.chosen, strict=True)
            ]
        )
        scored = [
            ScoredMention(mention, max(SMALLEST_SCORE, float(np.exp(steps[start:stop].sum()))))
            for mention, (start, stop) in output.mentions
        ]
        scored.sort(key=lambda own: -own.score)
        return Prediction.of(example, scored, bounded=not output.complete)
