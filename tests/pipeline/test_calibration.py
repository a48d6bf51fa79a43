from __future__ import annotations

from dataclasses import replace

import pytest

import trigner
from tiny_models import extractor
from trigner.evaluation.calibration import Predictions, log_loss
from trigner.mentions import Document
from trigner.pipeline.calibration import calibrate, with_temperature

TEXTS = ["my left leg hurt .", "numb after the second tablet , no pain in the arm", "pain"]


def gold_of(extract, keep):
    """What the model finds, of which every second entity counts as gold."""
    found = [extract(text) for text in TEXTS]
    return [
        Document(str(n), d.text, tuple(e for i, e in enumerate(d.entities) if keep(i)))
        for n, d in enumerate(found)
    ]


def loss(extract, gold):
    """Log loss of the scores of what is found in the gold documents' texts."""
    found = [(d, e) for d in gold for e in extract(d.text).entities]
    keys = [{d.key(e) for e in d.entities} for d in gold]
    right = [d.key(e) in keys[gold.index(d)] for d, e in found]
    return log_loss(Predictions([e.score for _, e in found], right))


def test_no_entity_changes_and_scores_fit_better(tiny):
    extract = extractor(tiny())
    gold = gold_of(extract, lambda i: i % 2)
    found = calibrate(extract, gold)
    assert found.predictions > 4
    assert found.temperature != 1
    calibrated = with_temperature(extract, found.temperature)
    assert loss(calibrated, gold) < loss(extract, gold)
    for text in TEXTS:
        before, after = extract(text).entities, calibrated(text).entities
        assert [(e.label, e.fragments) for e in before] == [(e.label, e.fragments) for e in after]
        assert [e.score for e in before] != [e.score for e in after] or not before


def test_without_anything_right_it_stays_1(tiny):
    extract = extractor(tiny())
    assert calibrate(extract, gold_of(extract, lambda i: False)).temperature == 1


def test_sentences_of_one_document_are_as_those_of_several(tiny):
    extract = extractor(tiny())
    gold = gold_of(extract, lambda i: i % 2)
    places = [sum(len(text) + 2 for text in TEXTS[:n]) for n in range(len(TEXTS))]
    entities = tuple(
        replace(e, fragments=tuple((a + by, b + by) for a, b in e.fragments))
        for by, document in zip(places, gold, strict=True)
        for e in document.entities
    )
    whole = Document("d", "\n\n".join(TEXTS), entities)
    found, expected = calibrate(extract, [whole]), calibrate(extract, gold)
    assert (found.temperature, found.predictions) == (expected.temperature, expected.predictions)
    assert found.error_after == pytest.approx(expected.error_after)


def test_another_temperature_is_another_model_than_the_saved_one(saved_model):
    extract = trigner.load(saved_model)
    assert extract.source is not None
    assert with_temperature(extract, 2.0).source is None


@pytest.mark.parametrize("temperature", [0, -1.0, float("nan"), float("inf")])
def test_a_temperature_is_above_0(tiny, temperature, refused):
    with refused():
        with_temperature(extractor(tiny()), temperature)
