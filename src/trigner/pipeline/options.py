"""What an extractor is told: least scores of entities, sizes, and functions that give fields."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from trigner.errors import InputError
from trigner.mentions import shortened


def checked_thresholds(
    threshold: float | Mapping[str, float], more: Mapping[str, float], labels: Collection[str]
) -> tuple[float, dict[str, float]]:
    """The threshold of all types, and those of single ones.

    Raises InputError for one that is not a number in [0, 1] and for a type that is not a label.
    """
    if not isinstance(more, Mapping):
        raise InputError(f"thresholds must be a number for each type, got {shortened(more)}")
    of_types = {**(threshold if isinstance(threshold, Mapping) else {}), **more}
    of_all = 0.0 if isinstance(threshold, Mapping) else threshold
    given: list[tuple[str | None, Any]] = [(None, of_all), *of_types.items()]
    for label, value in given:
        where = "threshold" if label is None else f"threshold of {label}"
        if label is not None and label not in labels:
            raise InputError(f"{where}: no such type; the model has {', '.join(labels)}")
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
            raise InputError(f"{where}: must be a number from 0 to 1, got {value!r}")
    return float(of_all), {label: float(value) for label, value in of_types.items()}


def positive(name: str, value: Any, *, most: int | None = None) -> int:
    """An integer of at least 1, NumPy's too, and of no more than `most`.

    Raises InputError for anything else.
    """
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_integer or value < 1 or (most is not None and value > most):
        end = "" if most is None else f" and at most {most:,}"
        raise InputError(f"{name} must be an integer of at least 1{end}, got {shortened(value)}")
    return int(value)


def checked_annotators(annotators: Any) -> tuple[Callable[..., Any], ...]:
    """The functions that give entities fields. Raises InputError for anything else."""
    own = tuple(annotators) if isinstance(annotators, Iterable) else (None,)
    if not all(map(callable, own)):
        raise InputError(f"annotators are a list of functions, got {shortened(annotators)}")
    return own
