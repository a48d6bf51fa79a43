from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tiny_models import TEXT, extractor
from trigner.batches.collation import Batch
from trigner.corpora.words import document_of
from trigner.mentions import Document, Sentence
from trigner.text.segmentation import segment

SENTENCES = segment(Document("d", TEXT)).sentences
GRIDS = ["w2ner", "toe", "mac", "mac_minimal", "span_grid", "gap_grid"]


def scores_of(batch: Batch):
    length = batch.word_subwords.shape[1]
    return np.zeros((len(batch.lengths), length, length, 4), dtype=np.float32)


def rigged(extract, scorer, max_subwords=512):
    """The extractor with other scores, and another limit of its encoder."""
    inputs = replace(extract.predictor.inputs, max_subwords=max_subwords)
    return replace(extract, predictor=replace(extract.predictor, scorer=scorer, inputs=inputs))


@pytest.fixture(scope="module")
def extract(tiny):
    return extractor(tiny())


def test_predictions_on_special_words_are_left_out_and_counted(extract):
    def scorer(batch: Batch):
        scores = scores_of(batch)
        scores[..., 0] = 1
        scores[:, 0, 0, 2] = 5  # [POS] as an entity
        scores[:, 2, 2, 3] = 5  # the first word
        return scores

    run = rigged(extract, scorer).stream(["pain now"])
    (document,) = run
    assert [(e.label, e.text) for e in document.entities] == [("Drug", "pain")]
    assert run.statistics.on_special_words == 1
    assert run.statistics.notices() == ["1 prediction on [POS] or [NEG] left out"]


def test_hitting_the_bound_is_reported_once_for_a_sentence(extract):
    def scorer(batch: Batch):
        scores = scores_of(batch)
        length = scores.shape[1]
        scores[:, np.tril_indices(length)[0], np.tril_indices(length)[1], 2] = 3
        scores[:, np.triu_indices(length, 1)[0], np.triu_indices(length, 1)[1], 1] = 3
        return scores

    run = rigged(extract, scorer).documents([document_of("d", ["pain"] * 30)])
    assert next(run).entities
    assert run.statistics.bounded == 1
    assert any("hit a bound of decoding" in n for n in run.statistics.notices())
    narrow = rigged(extract, scorer, max_subwords=40)
    met = narrow.documents([document_of("d", ["pain"] * 90)])
    assert next(met).entities
    assert (met.statistics.bounded, met.statistics.windowed, met.statistics.sentences) == (1, 1, 1)


@pytest.mark.parametrize("scheme", [*GRIDS, "corro"])
def test_logits_are_those_of_the_words_without_padding(tiny, scheme):
    predictor = extractor(tiny(scheme)).predictor
    inputs = predictor.prepare(SENTENCES).inputs
    together = predictor.outputs(inputs)
    axes = predictor.scheme.tag_space.word_axes
    for own, logits in zip(inputs, together, strict=True):
        length = own.length + len(predictor.inputs.tokenizer.special_words)
        assert logits.shape[:axes] == (length,) * axes
        (alone,) = predictor.outputs([own])
        np.testing.assert_allclose(logits, alone, atol=1e-4)


@pytest.mark.parametrize("scheme", ["w2ner", "toe", "mac", "span_grid", "gap_grid", "corro"])
def test_each_temperature_gives_what_a_predictor_of_it_predicts(tiny, scheme):
    predictor = extractor(tiny(scheme)).predictor
    inputs = predictor.prepare(SENTENCES).inputs
    found = predictor.at_temperatures(inputs, [0.5, 1.0, 3.0])
    assert found[1.0] == predictor.predict(inputs)
    for temperature, predictions in found.items():
        assert predictions == predictor.with_temperature(temperature).predict(inputs)
    spots = {t: [[s.mention for s in p.mentions] for p in found[t]] for t in found}
    assert any(spots[1.0])
    for temperature in found:
        assert [set(own) for own in spots[temperature]] == [set(own) for own in spots[1.0]]


@pytest.mark.parametrize("scheme", GRIDS)
def test_a_grid_has_the_probabilities_of_the_words_and_the_mentions_cells(tiny, scheme):
    predictor = extractor(tiny(scheme)).predictor
    inputs = predictor.prepare(SENTENCES).inputs
    for own, grid, prediction in zip(
        inputs, predictor.grids(inputs), predictor.predict(inputs), strict=True
    ):
        assert grid.tags == predictor.tags
        assert grid.probabilities.shape == (own.length, own.length, len(grid.tags))
        assert ((grid.probabilities >= 0) & (grid.probabilities <= 1)).all()
        if scheme == "w2ner":
            np.testing.assert_allclose(grid.probabilities.sum(-1), 1)
        assert grid.mentions == prediction.mentions
        assert len(grid.cells) == len(grid.mentions)
        for scored, cells in zip(grid.mentions, grid.cells, strict=True):
            assert cells
            if scheme == "w2ner":
                product = np.prod([grid.probabilities[cell] for cell in cells])
                assert scored.score == pytest.approx(product, rel=1e-4)


def test_no_sentences(extract):
    prepared = extract.predictor.prepare([])
    assert (prepared.inputs, prepared.windowed, prepared.truncated) == ((), 0, 0)
    words = Sentence("d", 0, ("pain",), ((0, 4),))
    assert len(extract.predictor.prepare([words]).inputs) == 1
