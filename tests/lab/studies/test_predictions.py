from __future__ import annotations

from dataclasses import replace

import pytest

from trigner.errors import InputError
from trigner.evaluation import sentence_counts
from trigner.evaluation.scores import score
from trigner.lab.studies.predictions import SavedPredictions, read_predictions, write_predictions


def test_what_was_found_comes_back_without_the_texts(corpus, tmp_path):
    documents = [replace(d, entities=d.entities[:2]) for d in corpus.test]
    counts = sentence_counts(corpus.test, documents)
    path = tmp_path / "a.found.json.gz"
    write_predictions(path, {"overall": SavedPredictions(counts, tuple(documents))})
    found = read_predictions(path)["overall"]
    assert score(corpus.test, found.on(corpus.test)).overall.correct == 3
    assert [e.text for d in found.on(corpus.test) for e in d.entities] == [
        e.text for d in documents for e in d.entities
    ]
    for name, expected in counts.slices.items():
        assert found.counts.slices[name].tolist() == expected.tolist()
    again = tmp_path / "b.found.json.gz"
    write_predictions(again, {"overall": SavedPredictions(counts, tuple(documents))})
    assert again.read_bytes() == path.read_bytes()
    with pytest.raises(InputError, match="not among these documents"):
        found.on(corpus.dev)


def test_files_that_cannot_be_trusted(tmp_path):
    path = tmp_path / "a.found.json.gz"
    with pytest.raises(InputError, match="is damaged"):
        read_predictions(path)
    write_predictions(path, {})
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="is damaged"):
        read_predictions(path)
