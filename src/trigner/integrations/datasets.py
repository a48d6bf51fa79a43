"""Hugging Face datasets: a function for `map`, and the features that it makes.

    from trigner.integrations.datasets import annotate, features

    found = dataset.map(annotate(text="body"), batched=True, features=features(dataset))

`map` caches by what the function is: the model's fingerprint, the options and the column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from datasets import Dataset, Features, IterableDataset, List, Value

from trigner.errors import InputError
from trigner.models import BUNDLED
from trigner.pipeline.bulk import Annotator, annotator, refuse_added

ADDED = {
    "entities": List(
        {
            "label": Value("string"),
            "fragments": List({"start": Value("int32"), "end": Value("int32")}),
            "text": Value("string"),
            "score": Value("float64"),
        }
    ),
    "error": Value("string"),
}


@dataclass(frozen=True)
class Annotate:
    """What `map` is given: a batch of columns -> the columns `entities` and `error`."""

    annotator: Annotator

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        text = self.annotator.text
        if not isinstance(batch, Mapping):
            raise InputError(
                f"a {type(batch).__name__} was given, not columns of Python's own values:"
                " dataset.with_format(None).map(...)"
            )
        if text not in batch:
            raise InputError(f"there is no column `{text}`; there are {', '.join(batch)}")
        values = batch[text]
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise InputError(f"one row was given, not a batch: map(..., batched=True) for `{text}`")
        found = self.annotator.texts(values)
        return {
            "entities": [each.entities for each in found],
            "error": [each.error for each in found],
        }


def annotate(
    model: str | Path = BUNDLED,
    *,
    text: str = "text",
    threshold: float | Mapping[str, float] = 0.0,
    **settings: Any,
) -> Annotate:
    """A function for `map(..., batched=True)`, also with `num_proc`: a process loads a model once.

    Settings are those of `bulk.Annotator`, such as `device` and `threads` (1).
    """
    return Annotate(annotator(model, text=text, threshold=threshold, **settings))


def features(dataset: Dataset | IterableDataset) -> Features:
    """Those of the dataset with the two that are added, to be given to `map`.

    Raises InputError when the dataset has a column of that name, or no features yet.
    """
    if dataset.features is None:
        raise InputError(
            "this dataset does not know its columns: name them with cast(Features(..))"
        )
    refuse_added(dataset.features)
    return Features({**dataset.features, **ADDED})
