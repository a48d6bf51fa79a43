"""Results of several variants side by side, as tables for a terminal or a file."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table

from trigner.prompting.experiment import VariantResult
from trigner.prompting.failures import FAILURE_KINDS

_MATCH = "text match"


def scores_table(results: Sequence[VariantResult]) -> Table:
    """A row for each variant and repair, rates in percent.

    The rows called `text match` compare the texts of entities and ignore their positions.
    """
    shown = _table("prompt", "repair")
    for name in ("P", "R", "F1", "disc. F1", "disc. sent. F1", "correct", "predicted", "gold"):
        shown.add_column(name, justify="right", no_wrap=True)
    for result in results:
        name = result.variant.name
        for repair, scores in result.scores.items():
            one, apart = scores.overall, scores.discontinuous
            within = scores.sentences_with_discontinuous
            rates = (one.precision, one.recall, one.f1, apart.f1, within.f1)
            counts = (one.correct, one.predicted, one.gold)
            shown.add_row(name, repair, *map(_percent, rates), *map(str, counts))
            name = ""
        match = result.by_text
        texts = map(_percent, (match.precision, match.recall, match.f1))
        counts = (match.correct, match.predicted, match.gold)
        shown.add_row("", _MATCH, *texts, "", "", *map(str, counts))
        shown.add_section()
    return shown


def failures_table(results: Sequence[VariantResult]) -> Table:
    """A row for each kind of failure with its unit, a column for each variant."""
    shown = _table("failure", "of")
    for result in results:
        shown.add_column(result.variant.name, justify="right", no_wrap=True)
    units = dict.fromkeys(kind.unit for kind in FAILURE_KINDS.values())
    for unit in units:
        totals = [str(result.failures.totals[unit]) for result in results]
        shown.add_row(f"all {unit}", "", *totals)
        for name, kind in FAILURE_KINDS.items():
            if kind.unit == unit:
                found = [str(result.failures.counts[name]) for result in results]
                shown.add_row(f"  {name}", unit, *found)
    return shown


def _table(*columns: str) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        shown.add_column(name, no_wrap=True)
    return shown


def _percent(rate: float) -> str:
    return f"{100 * rate:.2f}"
