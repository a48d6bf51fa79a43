from __future__ import annotations

import pytest
import torch

from oracles import mac_tagger_naive
from tiny_encoders import KINDS
from tiny_models import make_scheme
from tiny_taggers import SENTENCES, tiny_tagger, valid_cells
from trigner.encoders.pretrained import load_encoder
from trigner.families.tagging.build import build_tagger
from trigner.families.tagging.mac_tagger import LENGTHS, SegmentTagger
from trigner.families.tagging.network_settings import MacSettings, MacTaggers

SMALL = MacTaggers(recurrent=True, size=10, span_size=6, span_reach=5, length_size=3)


def make(folder, name="mac", **changes):
    mac = SMALL.model_copy(update=changes)
    settings = MacSettings(mac=mac, lstm_size=8, embedding_dropout=0.0)
    tagger, batch = tiny_tagger(folder, make_scheme(name, ("ADR", "Drug")), settings)
    return tagger.eval(), batch


VARIANTS = [
    {},
    {"recurrent": False},
    {"span_reach": None},
    {"squared_norm": True},
    {"name": "mac_minimal"},
]


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_equals_the_layers_one_after_another(encoders, changes):
    """Logits and gradients of every parameter."""
    tagger, batch = make(encoders["mpnet"], **changes)
    inputs = batch(SENTENCES)
    scores = tagger(*inputs)
    classes = 10 if changes.get("name") else 16
    assert scores.logits.shape == (3, 14, 14, classes)
    assert scores.states.shape == (3, 14, 20)
    expected = mac_tagger_naive.logits(scores, tagger)
    valid = valid_cells(inputs[-1])
    largest = expected[valid].abs().max()
    assert (scores.logits - expected)[valid].abs().max() < 1e-5 * largest
    cotangent = torch.randn_like(expected) * valid[..., None]
    parameters = dict(tagger.named_parameters())
    gradients, naive = (
        torch.autograd.grad(t, list(parameters.values()), cotangent, retain_graph=True)
        for t in (scores.logits, expected)
    )
    for name, one, other in zip(parameters, gradients, naive, strict=True):
        assert (one - other).abs().max() <= 3e-5 * max(1.0, other.abs().max().item()), name


@pytest.mark.parametrize("kind", KINDS)
def test_padding_and_batch_mates_change_nothing(encoders, kind):
    tagger, batch = make(encoders[kind])
    together = tagger(*batch(SENTENCES))
    for row, sentence in enumerate(SENTENCES):
        alone = tagger(*batch([sentence]))
        size = len(sentence) + 2
        difference = alone.logits[0] - together.logits[row, :size, :size]
        assert difference.abs().max() < 1e-5 * alone.logits.abs().max()
        torch.testing.assert_close(alone.states[0], together.states[row, :size])


def test_gradients_reach_every_parameter(encoders):
    tagger, batch = make(encoders["bert"])
    logits = tagger(*batch(SENTENCES)).logits
    (logits * torch.randn_like(logits)).sum().backward()
    untouched = [
        name
        for name, p in tagger.named_parameters()
        if p.grad is None or (not p.grad.any() and not name.endswith("key.bias"))
    ]
    assert not untouched


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_pair_states_are_what_the_last_layers_read(encoders, changes):
    tagger, batch = make(encoders["bert"], **changes)
    scores = tagger(*batch(SENTENCES))
    cells = (torch.tensor([0, 2, 2, 2]), torch.tensor([1, 0, 13, 3]), torch.tensor([6, 13, 2, 3]))
    found = tagger.pair_states(scores, *cells)
    assert found.shape == (4, 10 + 3 + 10)
    expected = mac_tagger_naive.features(scores, tagger)[cells]
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    of_segments, of_links = found.split([13, 10], dim=1)
    last = [tagger.segments.output(of_segments), tagger.links.output(of_links)]
    torch.testing.assert_close(torch.cat(last, dim=1), scores.logits[cells], rtol=1e-4, atol=1e-5)


def test_pair_states_reach_what_makes_them_and_not_the_last_layers(encoders):
    tagger, batch = make(encoders["bert"])
    scores = tagger(*batch(SENTENCES))
    cells = (torch.tensor([0, 2]), torch.tensor([1, 0]), torch.tensor([6, 13]))
    tagger.pair_states(scores, *cells).square().sum().backward()
    for part in (tagger.segments, tagger.links):
        assert part.output.weight.grad is None
        assert part.mix.weight.grad.any()
        assert part.norm.scale.weight.grad.any()
    assert tagger.segments.spans.lstm.weight_hh_l0.grad.any()
    assert tagger.segments.length.weight.grad.any()
    assert tagger.encoder.model.embeddings.word_embeddings.weight.grad.any()


def test_every_setting_reaches_the_network(encoders):
    tagger, _ = make(encoders["bert"], squared_norm=True)
    assert tagger.segments.spans.reach == 5
    assert tagger.segments.spans.lstm.hidden_size == 6
    assert tagger.segments.length.weight.shape == (LENGTHS, 3)
    assert tagger.segments.norm.squared
    assert tagger.links.norm.squared
    assert tagger.recurrent.lstm.hidden_size == 4
    assert tagger.to_links.weight.shape == (10, 8)
    settings = MacSettings(
        embedding_dropout=0.4,
        empty_word="batch_minimum",
        mac=SMALL.model_copy(update={"recurrent": False}),
    )
    model, *_ = load_encoder(str(encoders["bert"]), ())
    built = build_tagger(model, settings, make_scheme("mac", ("ADR",)))
    assert (built.recurrent.layers[0].p, built.pooling.empty_word) == (0.4, "batch_minimum")
    assert built.to_segments.weight.shape == (10, 16)


def test_lengths_beyond_the_table_share_its_last_row():
    torch.manual_seed(0)
    tagger = SegmentTagger(
        size=4, span_size=2, reach=3, length_size=2, classes=1, squared_norm=False
    )
    states = torch.randn(1, LENGTHS + 3, 4)
    states[:, -3:] = states[:, -1:]
    with torch.no_grad():
        logits = tagger(states, torch.tensor([LENGTHS + 3]))[0, :, :, 0]
    torch.testing.assert_close(logits[0, -1], logits[0, -2])
    torch.testing.assert_close(logits[0, -3], logits[0, -2], rtol=1e-3, atol=1e-4)
