"""The batched, cached search is the naive one."""

from __future__ import annotations

import math

import pytest
import torch

from oracles.beam_naive import naive_beam
from oracles.pointers_naive import increasing_outputs
from tiny_seq2seq import KINDS
from trigner.families.core.word_network import evaluating
from trigner.families.seq2seq.automaton import END, START, State
from trigner.families.seq2seq.search import search
from trigner.families.seq2seq.targets import pad_targets, pointers_of
from trigner.mentions import Sentence

TEXTS = ("my left leg hurt", "no pain", "numb after the second tablet and arm", "leg")
REPRESENTATIONS = ("word", "span", "bpe")


def read_texts(system, texts):
    """Examples, automata and what the network read, all in one batch."""
    sentences = [
        Sentence("d", n, tuple(t.split()), tuple((i, i + 1) for i in range(len(t.split()))))
        for n, t in enumerate(texts)
    ]
    examples = system.prepare(sentences).inputs
    pointers = [pointers_of(system.format, e) for e in examples]
    batch = system.inputs.collate(examples)
    source = system.network.read(
        torch.from_numpy(batch.input_ids),
        torch.from_numpy(batch.attention_mask),
        torch.from_numpy(pad_targets(examples, pointers)),
    )
    return [system.format.automaton(p) for p in pointers], source


def following(network, source, automaton):
    """Log-probabilities of the next token, from all tokens before it and without a cache."""

    def given(tokens):
        scores = network.scores(source, torch.tensor([[START, *tokens]]))[0, -1]
        state = State()
        for token in tokens:
            state = automaton.after(state, token)
        allowed = automaton.allowed(state)
        logs = scores[: len(allowed)].masked_fill(~torch.from_numpy(allowed), -math.inf)
        logs = logs.log_softmax(dim=0)
        return {t: float(logs[t]) for t in allowed.nonzero()[0].tolist()}

    return given


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize(("beam_size", "penalty"), [(1, 1.0), (2, 1.0), (3, 0.0), (4, 2.0)])
def test_it_finds_what_the_naive_search_finds(
    tiny_seq2seq, kind, representation, beam_size, penalty
):
    system = tiny_seq2seq(kind, f"model.pointers={representation}")
    limits = [9, 4, 11, 6]
    with evaluating(system.network):
        automata, together = read_texts(system, TEXTS)
        found = search(
            system.network, together, automata, limits, beam_size=beam_size, length_penalty=penalty
        )
        for text, output, limit in zip(TEXTS, found, limits, strict=True):
            (automaton,), alone = read_texts(system, [text])
            expected = naive_beam(
                following(system.network, alone, automaton),
                end=END,
                limit=limit,
                beam_size=beam_size,
                length_penalty=penalty,
            )
            assert (output.tokens, output.complete) == expected
            assert len(output.tokens) <= limit
            assert automaton.accepts(output.tokens)


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_a_wide_beam_finds_the_best_of_all_outputs(tiny_seq2seq, representation):
    system = tiny_seq2seq("bert", f"model.pointers={representation}")
    network = system.network
    with evaluating(network):
        (automaton,), source = read_texts(system, ["no pain"])
        score = following(network, source, automaton)
        outputs = increasing_outputs(2, system.labels, [1, 1], representation, most=6)
        limit = 7
        worth = {
            tokens: sum(score(tokens[:n])[t] for n, t in enumerate(tokens))
            for tokens in outputs
            if len(tokens) <= limit
        }
        (found,) = search(network, source, [automaton], [limit], beam_size=400, length_penalty=0.0)
    assert found.tokens == max(worth, key=worth.__getitem__)


def test_an_output_without_end_stops_at_its_limit_and_says_so(tiny_seq2seq):
    system = tiny_seq2seq("bert")
    with evaluating(system.network), pytest.MonkeyPatch.context() as patch:
        automata, source = read_texts(system, TEXTS)
        next_scores = system.network.next_scores

        def without_end(*args):
            scores = next_scores(*args)
            scores[:, :, END] -= 1e4  # chosen only where nothing else is allowed
            return scores

        patch.setattr(system.network, "next_scores", without_end)
        found = search(
            system.network, source, automata, [5, 5, 5, 5], beam_size=1, length_penalty=1.0
        )
    assert [output.complete for output in found[:3]] == [False] * 3
    assert [len(output.tokens) for output in found[:3]] == [5] * 3
    assert END not in found[0].tokens
