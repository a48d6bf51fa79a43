"""Somebody with an export of each tool trains on it and extracts from it in one command each."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from exports import EXPORTS, FOUND, TEXTS
from trigner.corpora import read
from trigner.corpora.formats import FORMATS

TRAINED = ["--device", "cpu", "--set", "optimisation.epochs=1", "--set", "model.lstm_size=8"]


@pytest.mark.parametrize(
    ("format", "export"),
    [(name, export) for name in FORMATS for export in EXPORTS[name]],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_train_and_extract(run, encoder, tmp_path, format, export):
    folder = tmp_path / "export"
    folder.mkdir()
    brought = export(folder)
    corpus = read(brought)
    assert corpus.format == format
    assert Counter(document.text for document in corpus.documents) == Counter(TEXTS)
    for document in corpus.documents:
        (entity,) = document.entities
        assert entity.fragments == (FOUND[TEXTS.index(document.text)],)

    model = tmp_path / "model"
    trained = run("train", "--train", brought, "--out", model, "--encoder", encoder, *TRAINED)
    assert trained.code == 0, trained.err
    assert (model / "trigner.json").is_file()

    result = run("extract", brought, "--model", model, "--format", "jsonl")
    assert result.code == 0, result.err
    found = [json.loads(line) for line in result.out.splitlines()]
    assert Counter(document["text"] for document in found) == Counter(TEXTS)
