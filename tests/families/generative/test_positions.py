"""Texts that never end, up to the last position of a language model that has learnt them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tiny_encoders
from tiny_language_models import END, tiny_generative
from trigner.families.generative.network import side_by_side
from trigner.mentions import Mention, Sentence

POSITIONS = 400
HALVES = ("bart", "pegasus", "led")
CAUSAL = ("gpt2", "opt", "biogpt")


def sentence(number, words, mentions=()):
    offsets = tuple((2 * i, 2 * i + 1) for i in range(len(words)))
    return Sentence("d", number, tuple(words), offsets, tuple(mentions))


WORDS = tiny_encoders.WORDS.replace("#", "").split()
# The longer the prompt the less room it leaves: the second text goes on when the first has none.
SENTENCES = [sentence(0, WORDS + ["leg"] * 20), sentence(1, WORDS), sentence(2, ["no", "pain"])]


def endless(folder, *assignments):
    """An untrained system that goes through the sets of `WORDS`, and ends where nothing else may
    be written."""
    system = tiny_generative(folder, "model.length_ratio=12", *assignments)
    firsts = [system.tokenizer.encode(f" {word}").ids[0] for word in WORDS]
    bias = torch.linspace(1000, 100, len(firsts))

    def never_end(module, arguments, output):
        output.logits[..., firsts] += bias
        output.logits[..., END] = -1e6

    system.network.language_model.register_forward_hook(never_end)
    return system


@pytest.mark.parametrize(
    ("kind", "beam_size"), [*((kind, 1) for kind in (*HALVES, *CAUSAL)), ("bart", 3), ("gpt2", 3)]
)
def test_a_text_that_never_ends_is_cut_off_at_the_last_position(language_model, kind, beam_size):
    system = endless(language_model(kind), f"model.beam_size={beam_size}")
    predictor = system.predictor("cpu")
    inputs = predictor.prepare(SENTENCES[:1]).inputs
    (written,) = predictor.outputs(inputs)
    prompt = predictor.texts.speller(inputs[0]).prompt
    # Either reads the text to its last subword; before it one its prompt, the other a start.
    taken = 1 if kind in HALVES else len(prompt)
    assert taken + len(written.ids) == POSITIONS
    assert not written.complete
    (prediction,) = predictor.predict(inputs)
    assert prediction.bounded
    assert prediction.mentions


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        *((kind, ()) for kind in CAUSAL),
        ("gpt2", ("model.beam_size=3",)),
        ("gpt2", ("model.tuning=prompt", "model.prompt_size=20")),
    ],
)
def test_texts_that_never_end_do_not_depend_on_batch_mates(language_model, kind, options):
    predictor = endless(language_model(kind), *options).predictor("cpu")
    inputs = predictor.prepare(SENTENCES).inputs
    alone = [predictor.outputs([own])[0] for own in inputs]
    steps = [len(own.ids) for own in alone]
    sizes = [len(predictor.texts.speller(own).prompt) for own in inputs]
    room = POSITIONS - predictor.network.vectors
    assert sizes[0] + max(steps) > room  # where it would be stepped on to
    for order in ([0, 1, 2], [2, 1, 0]):
        together = predictor.outputs([inputs[n] for n in order])
        for place, number in enumerate(order):
            one, other = together[place], alone[number]
            assert one.ids == other.ids
            for scores, expected in zip(one.scores, other.scores, strict=True):
                np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", ["bart", "gpt2"])
def test_training_texts_go_up_to_the_last_position(language_model, kind):
    words = ["leg"] * 50
    mentions = [Mention((a, b), "ADR") for a in range(50) for b in range(a + 1, 50)]
    system = tiny_generative(language_model(kind), "model.length_ratio=8")
    (example,) = system.prepare([sentence(0, words, mentions)]).inputs
    text = system.texts.encode(example)
    limit = system.texts.limit(system.texts.speller(example))
    assert text.lost
    assert limit - len(text.ids) < 12  # no room for a mention more
    mate = system.prepare(SENTENCES[1:2]).inputs[0]
    losses = system.loss({}, **system.collate([example, mate]))
    assert torch.isfinite(losses.total)


def test_prompts_are_written_together_where_none_leaves_the_room():
    assert side_by_side([5, 3, 2], [5, 5, 5], room=10) == [[0, 1, 2]]
    assert side_by_side([3, 8, 2, 7], [7, 2, 8, 3], room=10) == [[1], [3], [0], [2]]
    assert side_by_side([8, 2, 4, 3], [2, 2, 6, 6], room=10) == [[0, 1], [2, 3]]
    assert side_by_side([], [], room=10) == []
