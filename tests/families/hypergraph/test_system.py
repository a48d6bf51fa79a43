"""The system: it learns, saves and loads, and nothing depends on batch mates."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from trigner.families.hypergraph.exporting import largest_difference
from trigner.families.hypergraph.network import NEVER
from trigner.families.hypergraph.onnx_runtime import OUTPUTS, onnx_scorer
from trigner.families.hypergraph.system import build
from trigner.families.hypergraph.torch_runtime import torch_scorer
from trigner.families.tagging.exported_tagger import with_onnx_layers
from trigner.families.tagging.exporting import graph_of, probes
from trigner.mentions import Mention, Sentence
from trigner.systems.registry import system_spec
from trigner.training.settings import resolve

SIZES = {"lstm_size": 24, "hidden_size": 24, "start_rank": 6}
LABELS = ("A", "B")
TEXTS = [
    ("my left leg hurt and felt numb", [((2, 3), "A"), ((2, 5, 6), "A"), ((1,), "B")]),
    ("my right arm felt numb", [((2, 3, 4), "A")]),
    ("no pain after the second tablet", []),
    ("my left and right leg hurt", [((1, 4, 5), "A"), ((3, 4, 5), "A"), ((4,), "B")]),
    ("pain", [((0,), "A")]),
    ("left arm and leg felt numb and hurt", [((1, 4, 5), "A"), ((3, 4, 5), "A"), ((3, 7), "A")]),
    ("then the right leg", [((2, 3), "B")]),
    ("my arm hurt after the tablet", [((1, 2), "A"), ((5,), "B")]),
]


def sentence(text, mentions=()):
    words = tuple(text.split())
    ends = [0]
    for word in words:
        ends.append(ends[-1] + len(word) + 1)
    offsets = tuple((a, b - 1) for a, b in pairwise(ends))
    return Sentence("d", 0, words, offsets, tuple(Mention(w, label) for w, label in mentions))


SENTENCES = [sentence(*text) for text in TEXTS]


def system_of(encoder, **model):
    torch.manual_seed(1)
    own = [f"model.{name}={value}" for name, value in {**SIZES, **model}.items()]
    options = {"system": "hypergraph", "encoder": str(encoder)}
    settings = resolve(assignments=own, options=options)
    return build(settings, LABELS)


def trained(system, steps):
    optimiser = torch.optim.AdamW(system.network.parameters(), lr=0.01)
    batch = system.collate(system.prepare(SENTENCES).inputs)
    for _ in range(steps):
        loss = system.loss({}, **dict(batch)).total
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return loss.item()


@pytest.mark.parametrize("graph", ["start", "shared", "split"])
def test_it_learns_sentences_by_heart(encoder, graph):
    system = system_of(encoder, graph=graph, embedding_dropout=0.0, output_dropout=0.0)
    assert trained(system, 120) < 0.05
    predictor = system.predictor("cpu")
    inputs = predictor.prepare(SENTENCES).inputs
    for own, prediction in zip(SENTENCES, predictor.predict(inputs), strict=True):
        assert {scored.mention for scored in prediction.mentions} == set(own.mentions)
        assert all(0.5 < scored.score <= 1 for scored in prediction.mentions)
        assert not prediction.bounded


def test_marginals_find_the_same_once_learnt(encoder):
    system = system_of(encoder, decoding="marginal", embedding_dropout=0.0, output_dropout=0.0)
    trained(system, 120)
    predictor = system.predictor("cpu")
    for own, prediction in zip(
        SENTENCES, predictor.predict(predictor.prepare(SENTENCES).inputs), strict=True
    ):
        assert {scored.mention for scored in prediction.mentions} == set(own.mentions)


@pytest.mark.parametrize("decoding", ["best", "marginal"])
def test_no_temperature_changes_what_is_found(encoder, decoding):
    system = system_of(encoder, decoding=decoding, marginal_threshold=0.05, output_dropout=0.0)
    trained(system, 40)
    predictor = system.predictor("cpu")
    by_temperature = predictor.at_temperatures(
        predictor.prepare(SENTENCES).inputs, [1.0, 0.25, 4.0]
    )
    found, *others = (
        [{scored.mention for scored in prediction.mentions} for prediction in predictions]
        for predictions in by_temperature.values()
    )
    assert any(found)
    assert others == [found, found]
    plain, sharp, _ = by_temperature.values()
    assert plain != sharp


@pytest.mark.parametrize("graph", ["start", "shared", "split"])
def test_loss_and_gradients(encoder, graph):
    system = system_of(encoder, graph=graph)
    batch = system.collate(system.prepare(SENTENCES).inputs)
    losses = system.loss({}, **dict(batch))
    losses.total.backward()
    assert losses.total > 0
    for name, parameter in system.network.named_parameters():
        if "pooler" not in name:
            assert parameter.grad is not None, name
            assert parameter.grad.abs().sum() > 0, name
    system.network.eval()
    plain = system.loss({}, **dict(batch)).total
    doubled = system.loss({"words": 2.0}, **dict(batch)).total
    assert doubled.item() == pytest.approx(2 * plain.item())


@pytest.mark.parametrize("graph", ["start", "shared", "split"])
def test_the_loss_of_a_batch_is_the_mean_over_its_words(encoder, graph):
    system = system_of(encoder, graph=graph)
    system.network.eval()
    inputs = system.prepare(SENTENCES).inputs
    alone = sum(
        system.loss({}, **system.collate([each])).total.item() * each.length for each in inputs
    )
    together = system.loss({}, **system.collate(inputs)).total.item()
    assert together == pytest.approx(alone / sum(each.length for each in inputs), rel=1e-4)


def test_scores_do_not_depend_on_batch_mates(encoder):
    predictor = system_of(encoder).predictor("cpu")
    inputs = predictor.prepare(SENTENCES).inputs
    together = predictor.outputs(inputs)
    for each, own in zip(inputs, together, strict=True):
        (alone,) = predictor.outputs([each])
        assert own.log_partition() == pytest.approx(alone.log_partition(), rel=1e-5)
        assert ((own.edges > NEVER) == (alone.edges > NEVER)).all()


def test_mentions_beyond_the_bounds_are_counted(encoder):
    system = system_of(encoder, max_segments=1, max_extent=2)
    assert system.inexpressible(SENTENCES) == 7
    system.loss({}, **system.collate(system.prepare(SENTENCES).inputs)).total.backward()


def test_mentions_that_the_reading_loses_are_counted_as_by_the_ceiling(encoder):
    """In the shared graph the second has only edges of the other two."""
    words = [(0, 1), (0, 1, 2), (1, 2)]
    given = [sentence("my left leg hurt", [(own, "A") for own in words]), *SENTENCES]
    counts = {}
    for reading, decoding in (("enough", "best"), ("all", "best"), ("enough", "marginal")):
        model = {"graph": "shared", "reading": reading, "decoding": decoding, "max_segments": 2}
        system = system_of(encoder, **model)
        back = system_spec("hypergraph").round_trip(LABELS, system.settings)
        lost = [set(s.mentions) - back(s.mentions, len(s.words))[0] for s in given]
        assert system.inexpressible(given) == sum(map(len, lost))
        counts[reading, decoding] = len(lost[0])
    assert counts == {("enough", "best"): 1, ("all", "best"): 0, ("enough", "marginal"): 0}


def test_an_extent_keeps_long_windows_small(encoder):
    predictor = system_of(encoder, max_extent=5).predictor("cpu")
    (chart,) = predictor.outputs(predictor.prepare([sentence("pain and numb leg " * 8)]).inputs[:1])
    graphs, places = chart.edges.shape[:2]
    assert (places, graphs) == (5, len(chart.starts))
    assert all(
        scored.mention.words[-1] - scored.mention.words[0] < 5
        for prediction in predictor.predict(predictor.prepare(SENTENCES).inputs)
        for scored in prediction.mentions
    )


def test_no_input_gives_no_prediction(encoder):
    assert system_of(encoder).predictor("cpu").predict([]) == []


@pytest.mark.parametrize("graph", ["start", pytest.param("split", marks=pytest.mark.slow)])
def test_an_exported_model_scores_alike(encoder, graph, tmp_path):
    system = system_of(encoder, graph=graph, max_extent=20)
    trained(system, 5)
    inputs = system.prepare(SENTENCES).inputs
    batch = system.inputs.collate(inputs)
    exported = graph_of(with_onnx_layers(system.network), probes(system.inputs), OUTPUTS)
    path = tmp_path / "model.onnx"
    path.write_bytes(exported)
    scorer = torch_scorer(system.network)
    for own, other in zip(
        scorer(batch), onnx_scorer(path, ["CPUExecutionProvider"])(batch), strict=False
    ):
        inside = own > NEVER / 2
        assert own[inside] == pytest.approx(other[inside], abs=1e-4)
    assert largest_difference(scorer, system.graph, batch, exported) < 1e-4
    elsewhere = system_of(encoder, graph=graph, max_extent=20)
    other = torch_scorer(elsewhere.network)
    assert largest_difference(other, system.graph, batch, exported) > 1e-3
