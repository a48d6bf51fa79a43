"""The search for the best output: greedy or with a beam, in all sentences of a batch at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from transformers import DynamicCache, EncoderDecoderCache

from trigner.families.core import check_finite
from trigner.families.seq2seq.automaton import END, START, OutputAutomaton, State
from trigner.families.seq2seq.network import EncodedSource, Seq2SeqNetwork


@dataclass(frozen=True, slots=True)
class Output:
    """The tokens of an output; `complete` unless the search ended at the limit of tokens."""

    tokens: tuple[int, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class _Hypothesis:
    score: float
    tokens: tuple[int, ...]
    state: State
    row: int


@dataclass
class _Beam:
    """The hypotheses of one sentence, best first, and the best of those that have ended."""

    sentence: int
    automaton: OutputAutomaton
    limit: int
    live: list[_Hypothesis] = field(default_factory=lambda: [_Hypothesis(0.0, (), State(), 0)])
    ended: tuple[float, tuple[int, ...]] | None = None
    complete: bool = False

    def extend(
        self, ranked: Sequence[tuple[float, int, int]], beam_size: int, length_penalty: float
    ) -> bool:
        """Take the best continuations, `(score, hypothesis, token)`; gives whether to go on."""
        live: list[_Hypothesis] = []
        for rank, (score, parent, token) in enumerate(ranked):
            if score == -math.inf or len(live) == beam_size:
                break
            before = self.live[parent]
            tokens = (*before.tokens, token)
            if token != END:
                state = self.automaton.after(before.state, token)
                live.append(_Hypothesis(score, tokens, state, parent))
            elif rank < beam_size:
                own = score / len(tokens) ** length_penalty
                if self.ended is None or own > self.ended[0]:
                    self.ended = (own, tokens)
        if not live:
            self.complete = True
            return False
        self.live = live
        length = len(live[0].tokens)
        if self.ended and self.ended[0] >= live[0].score / length**length_penalty:
            self.complete = True
            return False
        return length < self.limit

    @property
    def output(self) -> Output:
        """The best output that has ended; if none has, the best there is."""
        tokens = self.ended[1] if self.ended else self.live[0].tokens
        return Output(tokens, self.complete)


def search(
    network: Seq2SeqNetwork,
    source: EncodedSource,
    automata: Sequence[OutputAutomaton],
    limits: Sequence[int],
    *,
    beam_size: int,
    length_penalty: float,
) -> list[Output]:
    """An output for each sentence, of at most so many tokens.

    A hypothesis is worth its log-probability divided by its length to the power `length_penalty`.
    A sentence is done when none that goes on is worth more than the best that has ended.
    Raises InputError for scores that are NaN or infinite.
    """
    beams = [
        _Beam(n, automaton, limit)
        for n, (automaton, limit) in enumerate(zip(automata, limits, strict=True))
    ]
    going = list(beams)
    width = 1  # hypotheses of each sentence: at first there is but one
    cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
    while going:
        last, scores, allowed = _front(going, width, source)
        found = network.next_scores(source, last, cache).float()
        check_finite(found.cpu().numpy())
        total = found.masked_fill(~allowed, -math.inf).log_softmax(dim=2) + scores[:, :, None]
        ranked = _ranked(total, 2 * beam_size)
        kept = [
            place
            for place, beam in enumerate(going)
            if beam.extend(ranked[place], beam_size, length_penalty)
        ]
        rows = [
            place * width + going[place].live[min(k, len(going[place].live) - 1)].row
            for place in kept
            for k in range(beam_size)
        ]
        if rows and rows != list(range(len(going) * width)):
            cache.reorder_cache(torch.tensor(rows, device=last.device))  # type: ignore[arg-type]
        width = beam_size
        if len(kept) < len(going):
            source = source.select(torch.tensor(kept, dtype=torch.long, device=last.device))
            going = [going[place] for place in kept]
    return [beam.output for beam in beams]


def _front(
    going: Sequence[_Beam], size: int, source: EncodedSource
) -> tuple[Tensor, Tensor, Tensor]:
    """Last tokens `[S, K]`, log-probabilities `[S, K]` and what may follow, `[S, K, V]`.

    Where a sentence has fewer hypotheses than the beam is wide, the rest have probability zero.
    """
    tokens = np.full((len(going), size), START)
    scores = np.full((len(going), size), -math.inf)
    allowed = np.zeros((len(going), size, source.outputs.shape[1]), dtype=np.bool_)
    allowed[:, :, END] = True
    for place, beam in enumerate(going):
        for k, hypothesis in enumerate(beam.live):
            if hypothesis.tokens:
                tokens[place, k] = hypothesis.tokens[-1]
            scores[place, k] = hypothesis.score
            allowed[place, k, : beam.automaton.tokens] = beam.automaton.allowed(hypothesis.state)
    device = source.memory.device
    return (
        torch.from_numpy(tokens).to(device),
        torch.from_numpy(scores).float().to(device),
        torch.from_numpy(allowed).to(device),
    )


def _ranked(total: Tensor, count: int) -> list[list[tuple[float, int, int]]]:
    """The best continuations of each sentence from `[S, K, V]`, best first."""
    width = total.shape[2]
    best = total.flatten(1).topk(min(count, total.shape[1] * width), dim=1)
    return [
        [(score, place // width, place % width) for score, place in zip(*pair, strict=True)]
        for pair in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]
