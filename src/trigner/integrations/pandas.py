"""pandas: a frame with two more columns, `entities` and `error`.

from trigner.integrations.pandas import annotate

found = annotate(frame, text="body", threshold=0.5)
found.explode("entities")    # a row for each entity, a dictionary with label, fragments ...
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from trigner.errors import InputError
from trigner.models import BUNDLED
from trigner.pipeline.bulk import annotator, refuse_added


def annotate(
    frame: pd.DataFrame,
    model: str | Path = BUNDLED,
    *,
    text: str = "text",
    threshold: float | Mapping[str, float] = 0.0,
    **settings: Any,
) -> pd.DataFrame:
    """The frame with what is found in its texts, row by row; its index and columns stay.

    `entities` has a list of dictionaries, None where `error` says why there are none. Settings are
    those of `bulk.Annotator`, such as `device` and `threads` (here all cores). The model stays
    loaded. Raises InputError for what is no frame or setting, and when the column of texts is
    missing or the two new ones are there.
    """
    if not isinstance(frame, pd.DataFrame):
        raise InputError(
            f"expected a data frame, not {type(frame).__name__}; of a series take"
            f" series.to_frame({text!r})"
        )
    columns = list(frame.columns)
    refuse_added(map(str, columns))
    if columns.count(text) != 1:
        raise InputError(f"there are {columns.count(text) or 'no'} columns `{text}` in the frame")
    found = annotator(model, threshold=threshold, **{"threads": None, **settings})
    annotated = found.texts(frame[text].tolist())
    entities = pd.Series([each.entities for each in annotated], frame.index, dtype=object)
    errors = pd.Series([each.error for each in annotated], frame.index, dtype=object)
    return frame.assign(entities=entities, error=errors)
