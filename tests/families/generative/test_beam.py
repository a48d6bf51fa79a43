"""The search for a text is the naive one, among what is allowed alone."""

from __future__ import annotations

import pytest

from oracles.beam_naive import naive_beam
from trigner.families.core.word_network import evaluating
from trigner.mentions import Sentence

TEXTS = ("my left leg hurt", "no pain", "leg and arm")
LIMITS = [9, 12, 7]


def following(network, writing, limit):
    """Log-probabilities of the next subword among those that are allowed, without a cache."""
    end = writing.spelling.end

    def given(text):
        if len(text) >= limit:
            return {end: 0.0}
        allowed = sorted(writing.allowed(text))
        scores = network.scores([writing.spelling.prompt], [(*text, end)])[0, -1]
        return dict(zip(allowed, scores[allowed].log_softmax(0).tolist(), strict=True))

    return given


@pytest.mark.parametrize("kind", ["llama", "t5"])
@pytest.mark.parametrize(("beam_size", "penalty"), [(2, 1.0), (3, 0.0), (4, 2.0)])
def test_it_finds_what_the_naive_search_finds(generative, kind, beam_size, penalty):
    system = generative(kind)
    sentences = [
        Sentence("d", n, tuple(t.split()), tuple((i, i + 1) for i in range(len(t.split()))))
        for n, t in enumerate(TEXTS)
    ]
    writings = [system.texts.writing(example) for example in system.prepare(sentences).inputs]
    with evaluating(system.network):
        found = system.network.write(
            [writing.spelling.prompt for writing in writings],
            writings,
            LIMITS,
            beam_size=beam_size,
            length_penalty=penalty,
        )
        for writing, limit, text in zip(writings, LIMITS, found, strict=True):
            expected, _ = naive_beam(
                following(system.network, writing, limit),
                end=writing.spelling.end,
                limit=limit + 1,
                beam_size=beam_size,
                length_penalty=penalty,
                enough=beam_size,
            )
            assert text.ids == expected[:limit]
