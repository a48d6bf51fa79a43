"""Runs a trained network: sentences to inputs, inputs to outputs, outputs to mentions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from trigner.arrays import Floats, log_softmax
from trigner.batches import Example
from trigner.families.core import SMALLEST_SCORE, WordPredictor, check_finite, evaluating
from trigner.families.seq2seq.automaton import START
from trigner.families.seq2seq.format import Decoded, Format
from trigner.families.seq2seq.network import Seq2SeqNetwork
from trigner.families.seq2seq.search import Output, search
from trigner.families.seq2seq.targets import pad_targets, pad_tokens, pointers_of
from trigner.mentions import ScoredMention
from trigner.systems import Prediction


@dataclass(frozen=True)
class DecodedOutput:
    """An output, the mentions in it, and the scores `[T, V]` that it was written with.

    What was not allowed has score -inf.
    """

    output: Output
    decoded: Decoded
    scores: Floats


@dataclass(frozen=True)
class Seq2SeqPredictor(WordPredictor[DecodedOutput]):
    """Predicts the mentions of the best output.

    A mention's score is the product of its tokens' probabilities, pointers and type, each given all
    tokens before it and among those that were allowed. Scores of tokens are divided by
    `temperature` for that; the search for the output is not, so a temperature changes no mention.
    """

    network: Seq2SeqNetwork
    format: Format
    beam_size: int
    length_penalty: float

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that it can find."""
        return self.format.labels

    def outputs(self, inputs: Sequence[Example]) -> list[DecodedOutput]:
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
        check_finite(found)
        return [
            DecodedOutput(
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

    def prediction(self, example: Example, output: DecodedOutput, temperature: float) -> Prediction:
        """The mentions of an output, each once, with its best score."""
        logs = log_softmax(output.scores / temperature)
        tokens = np.array(output.output.tokens, dtype=np.int64)
        steps = logs[np.arange(len(tokens)), tokens]
        scored = [
            ScoredMention(mention, max(SMALLEST_SCORE, float(np.exp(steps[start:stop].sum()))))
            for mention, (start, stop) in output.decoded.mentions
        ]
        best: dict[object, ScoredMention] = {}
        for own in sorted(scored, key=lambda s: -s.score):
            best.setdefault(own.mention, own)
        return Prediction.of(example, best.values(), bounded=not output.output.complete)
