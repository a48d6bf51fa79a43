"""Spark on this machine, as a command: python -m speed.on_spark ROWS.jsonl OUT MODEL CORES"""

from __future__ import annotations

import sys
from tempfile import TemporaryDirectory

TASKS = 8
"""A core: so that cores finish together."""


def main(rows: str, out: str, model: str, cores: int) -> None:
    from pyspark.sql import SparkSession

    from trigner.integrations.spark import annotate, schema

    with TemporaryDirectory() as folder:
        settings = {
            "spark.ui.enabled": "false",
            "spark.local.dir": folder,
            "spark.sql.warehouse.dir": folder,
            "spark.log.level": "ERROR",
            "spark.driver.host": "127.0.0.1",
        }
        builder = SparkSession.builder.master(f"local[{cores}]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        frame = spark.read.schema("id string, text string").json(rows).repartition(TASKS * cores)
        keep = ["id"]
        found = frame.mapInPandas(annotate(model, keep=keep), schema(frame, keep))
        found.write.parquet(out)
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
