from __future__ import annotations

from dataclasses import replace

import pytest

from trigner.evaluation.scores import score
from trigner.evaluation.sentence_counts import sentence_counts
from trigner.lab.studies.predictions import SavedPredictions, predictions_of, predictions_text


def test_what_was_found_comes_back_without_the_texts(corpus, refused):
    documents = [replace(d, entities=d.entities[:2]) for d in corpus.test]
    counts = sentence_counts(corpus.test, documents)
    text = predictions_text({"overall": SavedPredictions(counts, tuple(documents))})
    assert all(e.text not in text for d in documents for e in d.entities)
    found = predictions_of(text)["overall"]
    assert score(corpus.test, found.on(corpus.test)).overall.correct == 3
    assert [e.text for d in found.on(corpus.test) for e in d.entities] == [
        e.text for d in documents for e in d.entities
    ]
    for name, expected in counts.slices.items():
        assert found.counts.slices[name].tolist() == expected.tolist()
    assert predictions_text({"overall": found}) == text
    with refused():
        found.on(corpus.dev)


@pytest.mark.parametrize(
    "text",
    [
        '{"overall":{"sentences":1,"counts":{},"entities":{}}}',
        '{"overall":{"sentences":99999999,"counts":{},"entities":{}}}',
        '{"overall":{"sentences":1,"counts":{"overall":[[1,0,0,0]]},"entities":{}}}',
    ],
)
def test_what_is_no_prediction_is_refused(text):
    with pytest.raises((ValueError, LookupError)):
        predictions_of(text)
