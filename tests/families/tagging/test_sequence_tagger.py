from __future__ import annotations

import pytest
import torch

from tiny_encoders import KINDS
from tiny_models import make_scheme
from tiny_taggers import SENTENCES, tiny_tagger
from trigner.families.tagging.network_settings import SequenceLayer, SequenceSettings
from trigner.families.tagging.sequence_tagger import ArcWeights
from trigner.networks.recurrent import BiLstm

LAYERS = pytest.mark.parametrize("layer", ["none", "hidden", "bilstm"])


def make(folder, name="biohd", **changes):
    sequence = SequenceLayer(hidden_size=6, **changes)
    settings = SequenceSettings(lstm_size=8, sequence=sequence)
    return tiny_tagger(folder, make_scheme(name, ("ADR", "Drug")), settings)


@LAYERS
@pytest.mark.parametrize("kind", KINDS)
def test_padding_and_batch_mates_change_nothing(encoders, kind, layer):
    tagger, batch = make(encoders[kind], layer=layer, transitions=True)
    tagger.eval()
    together = tagger(*batch(SENTENCES))
    for row, sentence in enumerate(SENTENCES):
        alone = tagger(*batch([sentence]))
        own = together.logits[row, : len(sentence)]
        torch.testing.assert_close(alone.logits[0], own, rtol=1e-4, atol=1e-5)
        states = together.states[row, : len(sentence)]
        torch.testing.assert_close(alone.states[0], states, rtol=1e-4, atol=1e-5)


@LAYERS
@pytest.mark.parametrize("name", ["corro", "biohd"])
def test_gradients_reach_every_parameter(encoders, name, layer):
    tagger, batch = make(encoders["bert"], name, layer=layer, transitions=name == "biohd")
    tagger.train()
    scores = tagger(*batch(SENTENCES)).logits
    (scores * torch.randn_like(scores)).sum().backward()
    untouched = [
        name
        for name, p in tagger.named_parameters()
        if (p.grad is None or not p.grad.any()) and not name.endswith("key.bias")
    ]
    assert not untouched


@LAYERS
def test_shapes_and_settings(encoders, layer):
    tagger, batch = make(encoders["bert"], "corro", layer=layer)
    scores = tagger(*batch(SENTENCES))
    assert scores.logits.shape == (3, 12, 19)
    assert scores.states.shape == (3, 12, {"none": 16, "hidden": 6, "bilstm": 8}[layer])
    assert isinstance(tagger.layer, BiLstm) == (layer == "bilstm")


def test_transitions_are_weights_of_arcs(encoders):
    tagger, batch = make(encoders["bert"], transitions=True)
    tagger.eval()
    automaton = make_scheme("biohd", ("ADR", "Drug")).grammar.automaton
    inputs = batch(SENTENCES)
    found = tagger(*inputs).logits
    assert found.shape == (3, 12, len(automaton.arcs))
    plain = tagger.output(tagger(*inputs).states)
    torch.testing.assert_close(found, plain[..., automaton.arc_tags.tolist()])
    weights = ArcWeights([0, 2, 2])
    with torch.no_grad():
        weights.weight.copy_(torch.tensor([1.0, 2.0, 3.0]))
    scores = torch.tensor([[[10.0, 20.0, 30.0]]])
    assert weights(scores).tolist() == [[[11.0, 32.0, 33.0]]]


def test_corro_scores_single_words(encoders, refused):
    with refused():
        make(encoders["bert"], "corro", transitions=True)
