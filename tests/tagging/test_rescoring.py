from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trigner
from model_changes import change_description
from oracles import rescoring_naive as oracle
from tiny_models import export, extractor, make_scheme, save
from trigner.errors import InputError
from trigner.inference import with_rescorer
from trigner.mentions import Document
from trigner.model_folder import DESCRIPTION, describe_again, read_description
from trigner.rescorer import Rescorer
from trigner.tagging.rescoring import BONUS, FEATURES, candidates, features, rescored
from trigner.text import segment
from trigner.training import resolve

SCHEMES = ["w2ner", "toe", "span_grid", "gap_grid"]
TEXTS = ["my left leg hurt .", "numb after the second tablet , no pain in the arm", "pain"]
ALL = Rescorer(bias=9.0, weights=dict.fromkeys(FEATURES, 0.0), thresholds=(0.5, 0.5))


def keeping(thresholds=(0.5, 0.5), bias=-0.2):
    weights = dict(zip(FEATURES, (0.5, -0.3, -0.6, -0.1, -0.2), strict=True))
    return Rescorer(bias=bias, weights=weights, thresholds=thresholds)


def some_logits(scheme, seed, length, scale=1.5):
    shape = (length, length, len(scheme.tags))
    logits = np.random.default_rng(seed).normal(-0.5, scale, shape)
    return logits.astype(np.float32)


sentences = st.tuples(st.sampled_from(SCHEMES), st.integers(0, 10**6), st.integers(1, 7))


@given(sentences, st.integers(0, 2))
def test_features_are_those_of_the_slow_version(sentence, leading):
    name, seed, length = sentence
    scheme = make_scheme(name, ("ADR", "Drug"))
    logits = some_logits(scheme, seed, length + leading)
    found = candidates(scheme, logits).mentions[:60]
    expected = oracle.features(logits, found, leading, scheme)
    values = features(scheme, logits, found, leading)
    assert values.shape == (len(found), len(FEATURES))
    np.testing.assert_allclose(values, np.array(expected).reshape(values.shape), atol=1e-6)


@given(sentences)
def test_what_is_decoded_without_a_bonus_is_among_the_candidates(sentence):
    name, seed, length = sentence
    scheme = make_scheme(name, ("ADR", "Drug"))
    logits = some_logits(scheme, seed, length, 1.0)
    plain, looser = scheme.decode(logits), candidates(scheme, logits)
    if looser.complete:
        assert {s.mention for s in plain.mentions} <= {s.mention for s in looser.mentions}


def test_the_bonus_is_that_of_tags_and_not_of_none():
    scheme = make_scheme("w2ner", ("ADR",))
    logits = np.zeros((1, 1, 3), dtype=np.float32)
    logits[0, 0] = (0, -9, -BONUS / 2)  # a word that is none by half the bonus
    assert not scheme.decode(logits).mentions
    (found,) = candidates(scheme, logits).mentions
    assert found.mention.words == (0,)
    assert logits[0, 0].tolist() == [0, -9, -BONUS / 2]  # as it was


@given(sentences)
def test_kept_is_what_reaches_the_threshold_of_its_kind(sentence):
    name, seed, length = sentence
    scheme = make_scheme(name, ("ADR", "Drug"))
    logits = some_logits(scheme, seed, length)
    rescorer = keeping(thresholds=(0.4, 0.2))
    found = candidates(scheme, logits).mentions
    expected = {}
    for own, values in zip(found, features(scheme, logits, found), strict=True):
        log_odds = rescorer.bias + sum(
            rescorer.weights[n] * v for n, v in zip(FEATURES, values, strict=True)
        )
        probability = 1 / (1 + np.exp(-log_odds))
        if probability >= (0.2 if own.mention.is_discontinuous else 0.4):
            expected[own.mention] = probability
    kept = rescored(rescorer, scheme, logits).mentions
    assert {s.mention for s in kept} == set(expected)
    assert [s.score for s in kept] == pytest.approx([expected[s.mention] for s in kept])
    assert [s.score for s in kept] == sorted((s.score for s in kept), reverse=True)


@pytest.mark.parametrize("name", SCHEMES)
def test_what_is_found_does_not_depend_on_batch_mates(tiny, name):
    extract = with_rescorer(extractor(tiny(name)), keeping())
    together = extract(TEXTS)
    assert [d.entities for d in together] == [extract(text).entities for text in TEXTS]
    assert any(d.entities for d in together)


def test_a_rescorer_has_no_temperature(tiny):
    predictor = with_rescorer(extractor(tiny()), keeping()).predictor
    inputs = predictor.prepare(segment(Document("d", TEXTS[1])).sentences).inputs
    cold, hot = predictor.at_temperatures(inputs, (0.5, 4.0)).values()
    assert cold == hot


@pytest.mark.parametrize("name", ["w2ner", "gap_grid"])
def test_a_saved_model_has_it_exported_too(tiny, tmp_path, name):
    model = tiny(name)
    folder = save(model, tmp_path / "model")
    plain = trigner.load(folder)(TEXTS)
    describe_again(folder, read_description(folder).model_copy(update={"rescorer": keeping()}))
    loaded = trigner.load(folder)
    assert loaded.predictor.rescorer == keeping()
    found = loaded(TEXTS)
    assert [d.entities for d in found] != [d.entities for d in plain]
    exported = trigner.load(export(model, tmp_path / "graph"))
    assert exported.predictor.rescorer is None
    description = read_description(tmp_path / "graph").model_copy(update={"rescorer": keeping()})
    describe_again(tmp_path / "graph", description)
    for own, other in zip(found, trigner.load(tmp_path / "graph")(TEXTS), strict=True):
        assert [(e.label, e.fragments) for e in own.entities] == [
            (e.label, e.fragments) for e in other.entities
        ]
        assert [e.score for e in own.entities] == pytest.approx(
            [e.score for e in other.entities], abs=1e-3
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"weights": {"score": 1.0}},
            "rescorer.weights: not the features of this version: discontinuous",
        ),
        ({"thresholds": [0.5, 1.5]}, "rescorer.thresholds.1: Input should be less than or equal"),
        ({"bias": "much"}, "rescorer.bias: Input should be a valid number"),
        ({"bias": 1e300}, "rescorer.bias: Input should be less than or equal to 1000000"),
        ({"bias": True}, "rescorer.bias: Input should be a valid number"),
        ({"more": 1}, "rescorer.more: Extra inputs are not permitted"),
    ],
)
def test_a_damaged_rescorer_is_refused(tiny, tmp_path, change, message):
    folder = save(tiny(), tmp_path / "model")
    change_description(folder, rescorer={**ALL.model_dump(mode="json"), **change})
    with pytest.raises(InputError, match=message) as raised:
        trigner.load(folder)
    assert str(folder / DESCRIPTION) in str(raised.value)


def test_a_system_that_has_none_is_not_loaded_with_one(tiny, tmp_path):
    folder = save(tiny("bio"), tmp_path / "model")
    change_description(folder, rescorer=ALL.model_dump(mode="json"))
    with pytest.raises(InputError, match="rescorer: the system bio has none"):
        trigner.load(folder)


def test_a_grid_shows_the_mentions_that_are_kept(tiny):
    extract = with_rescorer(extractor(tiny()), ALL)
    predictor = extract.predictor
    inputs = predictor.prepare(segment(Document("d", TEXTS[1])).sentences).inputs
    (grid,) = predictor.grids(inputs)
    (prediction,) = predictor.predict(inputs)
    assert grid.mentions == prediction.mentions
    assert len(grid.cells) == len(grid.mentions) > 0


def test_systems_that_cannot_be_rescored_refuse_the_setting():
    asked = ["optimisation.rescoring=true"]
    assert resolve(preset="clean", assignments=asked).optimisation.rescoring
    with pytest.raises(InputError, match=r"rescoring changes nothing: the system bio does not"):
        resolve(preset="clean", assignments=["system=bio", "triplets.weight=0", *asked])
