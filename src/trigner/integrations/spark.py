"""Spark: a function for `mapInPandas`, and the schema that it makes.

    from trigner.integrations.spark import annotate, schema

    found = frame.mapInPandas(annotate(text="body", keep=["id"]), schema(frame, keep=["id"]))

Each Python worker of an executor loads the model once: its folder must be there on all machines,
as the bundled one is where trigner is installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ArrayType,
    DoubleType,
    IntegerType,
    StringType,
    StructField,
    StructType,
)

from trigner.errors import InputError
from trigner.models import BUNDLED
from trigner.pipeline.bulk import Annotator, annotator, refuse_added

FRAGMENT = StructType([StructField("start", IntegerType()), StructField("end", IntegerType())])
ENTITY = StructType(
    [
        StructField("label", StringType()),
        StructField("fragments", ArrayType(FRAGMENT)),
        StructField("text", StringType()),
        StructField("score", DoubleType()),
    ]
)
ADDED = (StructField("entities", ArrayType(ENTITY)), StructField("error", StringType()))


@dataclass(frozen=True)
class Annotate:
    """What `mapInPandas` is given: frames -> frames with the columns `entities` and `error`."""

    annotator: Annotator
    keep: tuple[str, ...] | None

    def __call__(self, frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            keep = list(frame.columns) if self.keep is None else list(self.keep)
            for name in (self.annotator.text, *keep):
                if name not in frame.columns:
                    raise InputError(f"there is no column `{name}` in the frame")
            found = self.annotator.texts(frame[self.annotator.text].tolist())
            yield frame[keep].assign(
                entities=pd.Series([own.entities for own in found], frame.index, dtype=object),
                error=pd.Series([own.error for own in found], frame.index, dtype=object),
            )


def annotate(
    model: str | Path = BUNDLED,
    *,
    text: str = "text",
    keep: Sequence[str] | None = None,
    threshold: float | Mapping[str, float] = 0.0,
    **settings: Any,
) -> Annotate:
    """A function for `mapInPandas`, which keeps these columns (None: all).

    Settings are those of `bulk.Annotator`, such as `device` and `threads` (1).
    """
    found = annotator(model, text=text, threshold=threshold, **settings)
    return Annotate(found, None if keep is None else tuple(keep))


def schema(frame: DataFrame, keep: Sequence[str] | None = None) -> StructType:
    """The kept columns of a frame (None: all) with the two that are added, for `mapInPandas`.

    Raises InputError when a column is not there, or has the name of one that is added.
    """
    there = {field.name: field for field in frame.schema.fields}
    names = list(there) if keep is None else list(keep)
    refuse_added(names)
    if absent := [name for name in names if name not in there]:
        raise InputError(f"there is no column `{absent[0]}`; there are {', '.join(there)}")
    return StructType([*(there[name] for name in names), *ADDED])
