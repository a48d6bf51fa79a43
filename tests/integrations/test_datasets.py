from __future__ import annotations

import logging
import pickle

import pytest

from tiny_models import TEXT

datasets = pytest.importorskip("datasets", reason="datasets is not installed (extra `dev`)")

from trigner.integrations.datasets import annotate, features  # noqa: E402

TEXTS = [None, None, TEXT, "my leg hurt"] * 3


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.disable_progress_bars()


@pytest.fixture
def function(exported_model):
    return annotate(exported_model, text="body", threshold=0.3)


def test_a_dataset_gets_two_columns_whatever_its_first_batch_has(function):
    dataset = datasets.Dataset.from_dict({"n": range(12), "body": TEXTS})
    mapped = dataset.map(function, batched=True, batch_size=2, features=features(dataset))
    assert mapped.column_names == ["n", "body", "entities", "error"]
    assert mapped.features == features(dataset)
    found = function.annotator.texts(TEXTS)
    assert mapped["entities"][:] == [own.entities for own in found]
    assert mapped["error"][:] == [own.error for own in found]
    assert any(found[2].entities)


def test_a_stream_too(function):
    dataset = datasets.Dataset.from_dict({"body": TEXTS}).to_iterable_dataset()
    mapped = dataset.map(function, batched=True, features=features(dataset))
    assert [row["error"] for row in mapped][:3] == ["the text is null"] * 2 + [None]


@pytest.mark.parametrize("text", ["my leg hurt", "", None])
def test_single_rows_are_refused(function, text, refused):
    dataset = datasets.Dataset.from_dict({"body": [text, TEXT]})
    with refused():
        dataset.map(function)


@pytest.mark.parametrize("format", ["arrow", "pandas"])
def test_batches_that_are_tables_are_refused(function, format, refused):
    dataset = datasets.Dataset.from_dict({"body": TEXTS}).with_format(format)
    with refused():
        dataset.map(function, batched=True)


def test_equal_functions_have_one_cache(function, exported_model):
    hash_of = datasets.fingerprint.Hasher.hash
    assert hash_of(annotate(exported_model, text="body", threshold=0.3)) == hash_of(function)
    assert hash_of(annotate(exported_model, text="body")) != hash_of(function)
    assert pickle.loads(pickle.dumps(function)) == function


def test_what_is_worth_knowing_is_logged(function, caplog):
    with caplog.at_level(logging.WARNING, "trigner.pipeline.bulk.annotator"):
        function({"body": ["a" * 3000 + " hurt"]})
    assert caplog.messages


def test_wrong_columns_are_refused(function, refused):
    with refused():
        function({"text": ["x"]})
    with refused():
        features(datasets.Dataset.from_dict({"error": ["x"]}))
