"""Published numbers, which reports compare with ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from trigner.errors import InputError
from trigner.evaluation import SLICES
from trigner.training import read_yaml

CORPORA = {"cadec": "CADEC", "share13": "ShARe13", "share14": "ShARe14"}
"""The corpora that numbers are published on, by the names that results have."""


@dataclass(frozen=True, slots=True)
class PublishedRates:
    """F1, precision and recall in percent; None where they are not reported."""

    f1: float
    precision: float | None = None
    recall: float | None = None


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A published system.

    `ours` are the systems that stand for the same, the first of them that a study has; `chosen_by`
    is which of its models. `scores` are by corpus and slice.
    """

    system: str
    ours: tuple[str, ...]
    chosen_by: str | None
    scores: Mapping[str, Mapping[str, PublishedRates]]


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """Rows in the order of the paper, and where they come from."""

    source: str
    about: str
    rows: tuple[PublishedRow, ...]


@cache
def published(name: str) -> PublishedTable:
    """A table of published numbers. Raises InputError for an unknown one."""
    path = Path(str(files("trigner.lab.studies").joinpath("published.yaml")))
    data = read_yaml(path).data
    tables: Mapping[str, Any] = data["tables"]
    if name not in tables:
        raise InputError(f"no published table {name!r}; choose one of {', '.join(tables)}")
    table = tables[name]
    rows = tuple(_row(row) for row in table["rows"])
    return PublishedTable(str(data["source"]).strip(), str(table.get("about", "")).strip(), rows)


def _row(row: Mapping[str, Any]) -> PublishedRow:
    scores = {
        corpus: {
            slice_: _rates(values)
            for slice_, values in (
                found if isinstance(found, Mapping) else {SLICES[0]: found}
            ).items()
        }
        for corpus in CORPORA
        if (found := row.get(corpus)) is not None
    }
    ours = row.get("ours", [])
    named = (ours,) if isinstance(ours, str) else tuple(ours)
    return PublishedRow(str(row["system"]), named, row.get("chosen_by"), scores)


def _rates(values: Any) -> PublishedRates:
    return (
        PublishedRates(*map(float, values))
        if isinstance(values, list)
        else PublishedRates(float(values))
    )
