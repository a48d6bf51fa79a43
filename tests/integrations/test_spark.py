from __future__ import annotations

import pytest

from java import skip_without_java, use_this_python
from tiny_models import TEXT

pytest.importorskip("pyspark", reason="pyspark is not installed (extra `dev`)")
pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra `scale`)")

from trigner.integrations.spark import annotate, schema

TEXTS = [TEXT, None, "my leg hurt", ""] * 3


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """A session of this machine, with two cores."""
    skip_without_java()
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        use_this_python(patch)
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.driver.memory", "512m").config(
            "spark.local.dir", str(folder)
        )
        builder = builder.config("spark.sql.warehouse.dir", str(folder))
        session = builder.config("spark.log.level", "ERROR").getOrCreate()
        yield session
        session.stop()


@pytest.fixture
def frame(spark):
    rows = [(n, text, f"author {n}") for n, text in enumerate(TEXTS)]
    return spark.createDataFrame(rows, "n long, body string, by string").repartition(3)


def test_a_frame_gets_two_columns(frame, exported_model):
    function = annotate(exported_model, text="body", keep=["n"], threshold=0.3)
    found = frame.mapInPandas(function, schema(frame, ["n"]))
    assert found.columns == ["n", "entities", "error"]
    rows = [row.asDict(recursive=True) for row in found.orderBy("n").collect()]
    expected = function.annotator.texts(TEXTS)
    assert rows == [
        {"n": n, "entities": own.entities, "error": own.error} for n, own in enumerate(expected)
    ]
    assert expected[0].entities
    assert found.selectExpr("explode(entities) as e").where("e.score >= 0.3").count() > 0


def test_all_columns_are_kept_unless_some_are_named(frame, exported_model):
    found = frame.mapInPandas(annotate(exported_model, text="body"), schema(frame))
    assert found.columns == ["n", "body", "by", "entities", "error"]
    assert sorted(row["by"] for row in found.collect()) == sorted(f"author {n}" for n in range(12))


def test_wrong_columns_are_refused(frame, exported_model, refused):
    with refused():
        schema(frame, ["x"])
    with refused():
        schema(frame.withColumnRenamed("by", "error"))
    function = annotate(exported_model)
    with refused(error=Exception):
        frame.mapInPandas(function, schema(frame)).collect()
