"""Runs a trained network: sentences to inputs, inputs to outputs, outputs to mentions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from trigner.arrays import Floats
from trigner.batches import EncoderInputs, Example, Prepared
from trigner.mentions import ScoredMention, Sentence
from trigner.networks import evaluating
from trigner.seq2seq.automaton import START
from trigner.seq2seq.format import Decoded, Format
from trigner.seq2seq.network import Seq2SeqNetwork
from trigner.seq2seq.search import Output, search
from trigner.seq2seq.targets import pad_targets, pad_tokens, pointers_of
from trigner.systems import Prediction

SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Found:
    """An output, the mentions in it, and the scores `[T, V]` that it was written with.

    What was not allowed has score -inf.
    """

    output: Output
    decoded: Decoded
    scores: Floats


@dataclass(frozen=True)
class Seq2SeqPredictor:
    """Predicts the mentions of the best output.

    A mention's score is the product of its tokens' probabilities, pointers and type, each given all
    tokens before it and among those that were allowed. Scores of tokens are divided by
    `temperature` for that; the search for the output is not, so a temperature changes no mention.
    """

    network: Seq2SeqNetwork
    format: Format
    inputs: EncoderInputs
    beam_size: int
    length_penalty: float
    temperature: float = 1.0

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that it can find."""
        return self.format.labels

    def prepare(self, sentences: Sequence[Sentence]) -> Prepared:
        """The sentences as inputs that the encoder can hold and the decoder can write about."""
        return self.inputs.prepare(sentences)

    def predict(self, inputs: Sequence[Example]) -> list[Prediction]:
        """The mentions of each input, as mentions of its sentence."""
        found = self.write(inputs)
        return [self._prediction(*each) for each in zip(inputs, found, strict=True)]

    def at_temperatures(
        self, inputs: Sequence[Example], temperatures: Iterable[float]
    ) -> dict[float, list[Prediction]]:
        """What `predict` gives with each of these temperatures, from one search."""
        written = self.write(inputs)
        found = {}
        for temperature in temperatures:
            other = replace(self, temperature=temperature)
            found[temperature] = [other._prediction(*p) for p in zip(inputs, written, strict=True)]
        return found

    def with_temperature(self, temperature: float) -> Seq2SeqPredictor:
        """The same with another temperature."""
        return replace(self, temperature=temperature)

    def write(self, inputs: Sequence[Example]) -> list[Found]:
        """The output of each input and how it was scored."""
        pointers = [pointers_of(self.format, example) for example in inputs]
        automata = [self.format.automaton(own) for own in pointers]
        positions = self.network.decoder.positions
        limits = [min(self.format.limit(own), positions or 1 << 30) for own in pointers]
        batch = self.inputs.collate(inputs)
        with evaluating(self.network) as device:
            source = self.network.read(
                torch.from_numpy(batch.input_ids).to(device),
                torch.from_numpy(batch.attention_mask).to(device),
                torch.from_numpy(pad_targets(inputs, pointers)).to(device),
            )
            outputs = search(
                self.network,
                source,
                automata,
                limits,
                beam_size=self.beam_size,
                length_penalty=self.length_penalty,
            )
            # Once more without the beam: the scores of the one output that is kept.
            before = pad_tokens([(START, *output.tokens[:-1]) for output in outputs], START)
            scores = self.network.scores(source, torch.from_numpy(before).to(device))
            found = scores.float().cpu().numpy().astype(np.float64)
        return [
            Found(
                output,
                self.format.decode(output.tokens, own),
                np.where(
                    automaton.along(output.tokens),
                    rows[: len(output.tokens), : automaton.tokens],
                    -np.inf,
                ),
            )
            for output, own, automaton, rows in zip(outputs, pointers, automata, found, strict=True)
        ]

    def _prediction(self, example: Example, found: Found) -> Prediction:
        logs = _log_softmax(found.scores / self.temperature)
        tokens = np.array(found.output.tokens, dtype=np.int64)
        steps = logs[np.arange(len(tokens)), tokens]
        scored = [
            ScoredMention(mention, max(SMALLEST, float(np.exp(steps[start:stop].sum()))))
            for mention, (start, stop) in found.decoded.mentions
        ]
        best: dict[object, ScoredMention] = {}
        for own in sorted(scored, key=lambda s: -s.score):
            best.setdefault(own.mention, own)
        return Prediction.of(example, best.values(), bounded=not found.output.complete)


def _log_softmax(scores: Floats) -> Floats:
    shifted = scores - scores.max(axis=1, keepdims=True)
    result: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return result
