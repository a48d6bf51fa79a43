from __future__ import annotations

from itertools import permutations

import pytest
import torch
from torch.nn import functional

from trigner.families.spans.fragments import Relation
from trigner.mentions import Mention, Sentence


def sentence(text, *mentions, index=0):
    words = tuple(text.split())
    return Sentence("d", index, words, tuple((0, 0) for _ in words), mentions)


ARMS = sentence(
    "numb left and right arm after aspirin , then well",
    Mention((0, 1, 4), "ADR"),
    Mention((0, 3, 4), "ADR"),
    Mention((6,), "Drug"),
)
SENTENCES = [
    ARMS,
    sentence("my leg hurt", Mention((1, 2), "ADR")),
    sentence("no pain in arm or hand", Mention((1, 2, 3), "ADR"), Mention((1, 2, 5), "ADR")),
    sentence("ibuprofen", Mention((0,), "Drug")),
    sentence("nothing at all here"),
    sentence("stiff hands and also feet", Mention((0, 1), "ADR"), Mention((0, 4), "ADR")),
    sentence("aspirin gave swollen dry eyes", Mention((0,), "Drug"), Mention((2, 4), "ADR")),
    sentence("dizzy , sick and tired", Mention((0,), "ADR"), Mention((2,), "ADR")),
]


@pytest.mark.parametrize("pruning", ["fragments", "relations"])
def test_the_loss_is_the_sum_over_spans_and_pairs(make, pruning):
    system = make(max_width=3, pruning=pruning)
    system.network.eval()
    batch = system.collate(system.prepare(SENTENCES[:2]).inputs)
    arrays = {name: batch[name] for name in system.tensors(system.prepare(SENTENCES[:2]).inputs)}
    gold = batch["classes"].any(dim=3)
    with torch.inference_mode():
        losses = system.loss({"words": 2.0}, **batch)
        output = system.spans(**arrays, always=gold if pruning == "fragments" else None)
    expected = {"loss_fragments": 0.0, "loss_relations": 0.0, "loss_pruning": 0.0}
    for row, own in enumerate(SENTENCES[:2]):
        fragments = system.format.encode(own.mentions, len(own.words))
        places = {tuple(span): n for n, span in enumerate(fragments.spans.tolist())}
        for a in range(len(own.words)):
            for b in range(a, min(len(own.words), a + 3)):
                there = (a, b) in places
                classes = fragments.classes[places[a, b]] if there else [False] * 4
                for score, wanted in zip(output.fragments[row, a, b - a], classes, strict=True):
                    expected["loss_fragments"] += functional.softplus(-score if wanted else score)
                score = output.pruning[row, a, b - a]
                expected["loss_pruning"] += functional.softplus(-score if there else score)
        kept = [int(n) for n in output.kept[row] if n >= 0]
        for (i, a), (j, b) in permutations(list(enumerate(kept)), 2):
            one, other = ((n // 3, n // 3 + n % 3) for n in (a, b))
            known = one in places and other in places
            wanted = fragments.relations[places[one], places[other]] if known else Relation.NONE
            scores = torch.cat([torch.zeros(1), output.relations[row, i, j]])
            expected["loss_relations"] -= scores.log_softmax(0)[int(wanted)]
    if pruning == "relations":
        del expected["loss_pruning"]
    words = sum(len(own.words) for own in SENTENCES[:2])
    assert losses.parts.keys() == expected.keys()
    for name, value in expected.items():
        assert float(losses.parts[name]) == pytest.approx(2 * float(value) / words, rel=1e-4)
    assert float(losses.total) == pytest.approx(sum(map(float, losses.parts.values())))


def test_biases_begin_at_the_shares(make):
    system = make(max_width=2)
    examples = system.prepare([ARMS]).inputs
    system.initialise(examples)
    # 10 spans of one word and 9 of two, 1 and 2 added; ADR has the parts (0, 1), (4, 4), (0, 0),
    # (3, 4), Drug the whole (6, 6).
    shares = system.spans.fragments.output.bias.sigmoid()
    torch.testing.assert_close(shares, torch.tensor([1, 2, 5, 1]) / 21)
    torch.testing.assert_close(system.spans.pruner.output.bias.sigmoid(), torch.tensor([6 / 21]))
    # 5 kept, so 25 pairs, 1 and 4 added; two pairs Combined, two Overlap, in both orders.
    weights = torch.cat([torch.zeros(1), system.spans.relations.output.bias]).softmax(0)
    torch.testing.assert_close(weights, torch.tensor([19, 5, 5]) / 29)


def test_what_cannot_be_expressed_is_counted(make):
    system = make(max_width=2)
    wide = sentence("a b c d", Mention((0, 1, 2), "ADR"), Mention((0,), "ADR"))
    nested = sentence("a b c d", Mention((0,), "ADR"), Mention((0, 2), "ADR"))
    assert system.inexpressible([wide, nested, ARMS]) == 1
    alike = make(max_width=2, fragment_roles=False)
    assert alike.inexpressible([wide, nested, ARMS]) == 2


def test_it_learns_eight_sentences(make):
    system = make(lstm_size=32, hidden_size=32, embedding_dropout=0, output_dropout=0)
    examples = system.prepare(SENTENCES).inputs
    system.initialise(examples)
    optimiser = torch.optim.AdamW(system.network.parameters(), lr=0.01, weight_decay=0)
    batch = system.collate(examples)
    system.network.eval()  # without the encoder's dropout
    for _ in range(100):
        optimiser.zero_grad()
        system.loss({}, **batch).total.backward()
        torch.nn.utils.clip_grad_norm_(system.network.parameters(), 5.0)
        optimiser.step()
    predictions = system.predictor("cpu").predict(examples)
    for own, prediction in zip(SENTENCES, predictions, strict=True):
        assert {scored.mention for scored in prediction.mentions} == set(own.mentions)
        assert not prediction.bounded
        assert all(0 < scored.score <= 1 for scored in prediction.mentions)


def test_what_is_predicted_depends_on_no_batch_mate(make):
    system = make()
    inputs = system.prepare(SENTENCES).inputs
    predictor = system.predictor("cpu")
    together = predictor.predict(inputs)
    for own, expected in zip(inputs, together, strict=True):
        (alone,) = predictor.predict([own])
        assert [s.mention for s in alone.mentions] == [s.mention for s in expected.mentions]
        scores = [s.score for s in alone.mentions]
        assert scores == pytest.approx([s.score for s in expected.mentions], abs=1e-5)


def test_a_temperature_changes_scores_and_no_mention(make):
    system = make()
    inputs = system.prepare(SENTENCES).inputs
    predictor = system.predictor("cpu")
    found = predictor.at_temperatures(inputs, [1.0, 3.0])
    assert found[1.0] == predictor.predict(inputs)
    assert found[3.0] == predictor.with_temperature(3.0).predict(inputs)
    some = False
    for one, other in zip(found[1.0], found[3.0], strict=True):
        assert {s.mention for s in one.mentions} == {s.mention for s in other.mentions}
        some |= bool(one.mentions)
    assert some
    assert found[1.0] != found[3.0]
