from __future__ import annotations

import pickle
from dataclasses import replace

import pyarrow as pa
import pytest

from tiny_models import TEXT
from trigner.pipeline.bulk.tables import ENTITIES, annotate_batch, annotated_schema
from trigner.pipeline.bulk.texts import annotate_texts

TEXTS = [TEXT, None, "my leg hurt", ""]


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
    ids=str,
)
def test_a_table_gets_two_columns(model_annotator, kind):
    extractor = model_annotator.extractor
    table = pa.table({"n": [1, 2, 3, 4], "body": pa.array(TEXTS).cast(kind)})
    found, statistics = annotate_batch(extractor, table, text="body", fingerprint="abc")
    assert found.schema == annotated_schema(table.schema)
    assert found.column_names == ["n", "body", "entities", "error"]
    assert found.schema.metadata == {b"trigner.model": b"abc"}
    expected, own = annotate_texts(extractor, TEXTS)
    assert found.column("entities").to_pylist() == [each.entities for each in expected]
    assert found.column("error").to_pylist() == [None, "the text is null", None, None]
    assert found.column("n").to_pylist() == [1, 2, 3, 4]
    assert statistics == own


def test_the_type_of_entities_is_the_documented_one():
    written = "list<element: struct<label: string, fragments: list<element: struct<start: int32, "
    written += "end: int32>>, text: string, score: double>>"
    assert str(ENTITIES).replace("child 0, ", "").replace("item", "element") == written


def test_columns_are_kept_as_they_are_asked_for(model_annotator):
    table = pa.table({"a": [1], "text": ["my leg"], "b": [b"x"]})
    found, _ = annotate_batch(model_annotator.extractor, table, keep=["b", "a"])
    assert found.column_names == ["b", "a", "entities", "error"]
    empty, _ = annotate_batch(model_annotator.extractor, table.slice(0, 0))
    assert empty.num_rows == 0


def test_bytes_that_are_no_text_are_an_error_of_their_row(model_annotator):
    damaged = pa.array([b"my leg", b"\xff\xfe", b"my arm"]).view(pa.string())
    found, _ = annotate_batch(model_annotator.extractor, pa.table({"text": damaged}), keep=[])
    errors = found.column("error").to_pylist()
    assert errors == [None, "the text is not UTF-8", None]


@pytest.mark.parametrize(
    ("table", "options"),
    [
        ({"a": ["x"]}, {}),
        ({"text": [1]}, {}),
        ({"text": ["x"]}, {"keep": ["id"]}),
        ({"text": ["x"], "error": ["x"]}, {}),
    ],
)
def test_wrong_columns_are_refused(model_annotator, table, options, refused):
    with refused():
        annotate_batch(model_annotator.extractor, pa.table(table), **options)


def test_a_column_that_is_there_twice_is_refused(model_annotator, refused):
    table = pa.table([["x"], ["y"]], names=["text", "text"])
    with refused():
        annotate_batch(model_annotator.extractor, table, keep=[])


def test_a_column_of_nothing_is_one_of_texts_that_are_null(model_annotator):
    found, _ = annotate_batch(model_annotator.extractor, pa.table({"text": pa.nulls(2)}), keep=[])
    assert found.column("error").to_pylist() == ["the text is null"] * 2


def test_an_annotator_is_pickled_without_its_model(model_annotator):
    model_annotator.extractor  # noqa: B018
    data = pickle.dumps(model_annotator)
    assert len(data) < 2000
    assert pickle.loads(data) == model_annotator
    assert pickle.loads(data).extractor is model_annotator.extractor


def test_what_annotators_give_has_no_column(model_annotator, refused):
    extractor = replace(model_annotator.extractor, annotators=(lambda *_: {"negated": True},))
    with refused():
        annotate_batch(extractor, pa.table({"text": TEXTS}))
