"""The system: its loss, what it learns, and that nothing depends on batch mates."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from trigner.families.segments.format import gaps_of
from trigner.mentions import Mention, Sentence

SIZES = {"lstm_size": 32, "hidden_size": 32, "combination_size": 16}
STILL = {"embedding_dropout": 0, "output_dropout": 0}


def sentence(text, *mentions, index=0):
    words = tuple(text.split())
    return Sentence("d", index, words, tuple((0, 0) for _ in words), mentions)


SENTENCES = [
    sentence(
        "numb left and right arm after aspirin , then well",
        Mention((0, 1, 4), "ADR"),
        Mention((0, 3, 4), "ADR"),
        Mention((6,), "Drug"),
    ),
    sentence("my leg hurt", Mention((1, 2), "ADR")),
    sentence("no pain in arm or hand", Mention((1, 2, 3), "ADR"), Mention((1, 2, 5), "ADR")),
    sentence("ibuprofen", Mention((0,), "Drug")),
    sentence("nothing at all here"),
    sentence(
        "stiff hands and also feet , and sore",
        Mention((0, 1), "ADR"),
        Mention((0, 4), "ADR"),
        Mention((0, 4, 7), "ADR"),
    ),
    sentence("aspirin gave swollen dry eyes", Mention((0,), "Drug"), Mention((2, 4), "ADR")),
    sentence("dizzy , sick and tired", Mention((0,), "ADR"), Mention((2,), "ADR")),
]


def loss_of(system, sentences, weights=None):
    return system.loss(weights or {}, **system.collate(system.prepare(sentences).inputs))


def test_the_loss_is_a_likelihood_of_segments_and_decisions(make):
    """Of single sentences, from scores as predicting has them."""
    system = make()
    inputs = system.prepare(SENTENCES).inputs
    system.network.eval()
    with torch.inference_mode():
        losses = loss_of(system, SENTENCES, {"words": 2.0})
    segments, decisions = 0.0, 0.0
    for example, scores in zip(inputs, system.predictor("cpu").outputs(inputs), strict=True):
        segments += scores.log_partition()
        gold = system.format.segments(example.mentions)
        for number, label in enumerate(system.labels):
            own = [m.segments[0] for m in gold if m.label == label]
            for first in {a for a, _ in own}:
                lasts = [b - a for a, b in own if a == first]
                segments -= scores.starts[first, number, 0]
                segments -= sum(scores.edges[first, n, number, 0, 0] for n in lasts)
                segments -= sum(scores.edges[first, n, number, 0, 1] for n in range(max(lasts)))
        for found in system.format.encode(example.mentions):
            parts = torch.tensor(
                scores.parts[found.spans[:, 0], found.spans[:, 1] - found.spans[:, 0]]
            )
            gaps, readout = torch.tensor(scores.gaps), torch.tensor(scores.readout)
            for chosen, wanted in zip(found.groups, found.wanted, strict=True):
                for row, between, is_mention in zip(
                    chosen, gaps_of(found.spans, chosen), wanted, strict=True
                ):
                    if len(row) == 1:
                        hidden = parts[row[0], 0]
                    else:
                        hidden = parts[row[0], 1] + parts[row[-1], 3]
                        hidden = hidden + sum(parts[n, 2] for n in row[1:-1])
                        hidden = hidden + sum(gaps[min(n, 16) - 1] for n in between)
                    score = hidden.relu() @ readout[:-1, found.label] + readout[-1, found.label]
                    decisions += float(functional.softplus(-score if is_mention else score))
    words = sum(len(own.words) for own in SENTENCES)
    assert float(losses.parts["loss_segments"]) == pytest.approx(2 * segments / words, rel=1e-4)
    found = float(losses.parts["loss_combinations"])
    assert found == pytest.approx(2 * decisions / words, rel=1e-4)
    assert float(losses.total) == pytest.approx(sum(map(float, losses.parts.values())))


@pytest.mark.parametrize("predicted", ["true", "false"])
def test_the_loss_of_a_batch_is_the_mean_over_its_words(make, predicted):
    system = make(predicted_negatives=predicted)
    system.network.eval()
    alone = sum(loss_of(system, [own]).total.item() * len(own.words) for own in SENTENCES)
    together = loss_of(system, SENTENCES).total.item()
    words = sum(len(own.words) for own in SENTENCES)
    assert together == pytest.approx(alone / words, rel=1e-4)
    sizes = [system.sizes(example) for example in system.prepare(SENTENCES).inputs]
    assert sum(own["words"] for own in sizes) == words


@pytest.mark.parametrize("predicted", ["true", "false"])
def test_gradients_reach_every_part(make, predicted):
    system = make(predicted_negatives=predicted)
    loss_of(system, SENTENCES).total.backward()
    lacking = [
        name
        for name, parameter in system.network.named_parameters()
        if "pooler" not in name and (parameter.grad is None or not parameter.grad.any())
    ]
    assert lacking == []


def test_what_the_network_finds_is_learnt_to_be_no_mention(make):
    system, other = make(predicted_negatives="true"), make()
    assert loss_of(other, SENTENCES[4:5]).parts["loss_combinations"].item() == 0
    for each in (system, other):
        each.network.eval()
        with torch.no_grad():
            each.network.start.bias.fill_(4.0)
    losses = [
        loss_of(each, SENTENCES).parts["loss_combinations"].item() for each in (system, other)
    ]
    assert losses[0] > 2 * losses[1]


@pytest.mark.parametrize(
    "sentences",
    [
        [sentence("ibuprofen")],
        [sentence("nothing at all"), sentence("pain " * 200)],
        [sentence("pain", Mention((0,), "ADR")), sentence("pain " * 200, Mention((199,), "ADR"))],
    ],
)
def test_empty_short_and_long_sentences_give_numbers(make, sentences):
    system = make()
    losses = loss_of(system, sentences)
    losses.total.backward()
    assert torch.isfinite(losses.total)
    for parameter in system.network.parameters():
        assert parameter.grad is None or torch.isfinite(parameter.grad).all()


def test_what_cannot_be_expressed_is_counted_and_not_learnt(make):
    system = make(max_width=2, max_segments=2, pair_gap=2)
    lost = sentence(
        "a b c d e f g h",
        Mention((0, 1, 2), "ADR"),  # too wide
        Mention((0, 2, 4), "ADR"),  # too many segments
        Mention((0, 4), "ADR"),  # too wide a gap
        Mention((0, 3), "ADR"),
    )
    assert system.inexpressible([lost, *SENTENCES]) == 6  # wide ones, a gap, three segments
    assert torch.isfinite(loss_of(system, [lost, *SENTENCES]).total)


@pytest.mark.parametrize("predicted", ["true", "false"])
def test_it_learns_eight_sentences(make, predicted):
    system = make(**SIZES, **STILL, predicted_negatives=predicted)
    optimiser = torch.optim.AdamW(system.network.parameters(), lr=0.01, weight_decay=0)
    system.network.eval()  # without the encoder's dropout
    examples = system.prepare(SENTENCES).inputs
    batch = system.collate(examples)
    for _ in range(100):
        optimiser.zero_grad()
        system.loss({}, **batch).total.backward()
        torch.nn.utils.clip_grad_norm_(system.network.parameters(), 5.0)
        optimiser.step()
    for own, prediction in zip(SENTENCES, system.predictor("cpu").predict(examples), strict=True):
        assert {scored.mention for scored in prediction.mentions} == set(own.mentions)
        assert not prediction.bounded
        assert all(0.5 < scored.score <= 1 for scored in prediction.mentions)


@pytest.fixture
def eager(make):
    """A system with random weights that finds much."""
    system = make()
    with torch.no_grad():
        system.network.start.bias.fill_(2.0)
        system.network.readout.bias.fill_(0.2)
    return system


def test_what_is_predicted_depends_on_no_batch_mate(eager):
    inputs = eager.prepare(SENTENCES).inputs
    predictor = eager.predictor("cpu")
    together = predictor.predict(inputs)
    assert sum(len(own.mentions) for own in together) > 20
    assert any(s.mention.is_discontinuous for own in together for s in own.mentions)
    for own, expected in zip(inputs, together, strict=True):
        (alone,) = predictor.predict([own])
        scores = {s.mention: s.score for s in alone.mentions}
        assert scores == pytest.approx({s.mention: s.score for s in expected.mentions}, abs=1e-5)


def test_a_temperature_changes_scores_and_no_mention(eager):
    inputs = eager.prepare(SENTENCES).inputs
    predictor = eager.predictor("cpu")
    found = predictor.at_temperatures(inputs, [1.0, 3.0])
    assert found[1.0] == predictor.predict(inputs)
    assert found[3.0] == predictor.with_temperature(3.0).predict(inputs)
    for one, other in zip(found[1.0], found[3.0], strict=True):
        assert {s.mention for s in one.mentions} == {s.mention for s in other.mentions}
    assert found[1.0] != found[3.0]


def test_no_input_gives_no_prediction(make):
    assert make().predictor("cpu").predict([]) == []
