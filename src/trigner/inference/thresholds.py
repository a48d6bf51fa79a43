"""Least scores of entities, for all types or single ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from trigner.errors import InputError


def checked_thresholds(
    threshold: float | Mapping[str, float], more: Mapping[str, float], labels: Collection[str]
) -> tuple[float, dict[str, float]]:
    """The threshold of all types, and those of single ones.

    Raises InputError for one that is not a number in [0, 1] and for a type that is not a label.
    """
    of_types = {**(threshold if isinstance(threshold, Mapping) else {}), **more}
    of_all = 0.0 if isinstance(threshold, Mapping) else threshold
    given: list[tuple[str | None, Any]] = [(None, of_all), *of_types.items()]
    for label, value in given:
        where = "threshold" if label is None else f"threshold of {label}"
        if label is not None and label not in labels:
            raise InputError(f"{where}: no such type; the model has {', '.join(labels)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise InputError(f"{where}: must be a number from 0 to 1, got {value!r}")
    return of_all, of_types
