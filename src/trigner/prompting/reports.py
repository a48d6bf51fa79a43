"""Outcomes of several variants side by side, as tables for a terminal or a file."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table

from trigner.prompting.failures import KINDS
from trigner.prompting.running import Outcome

_MATCH = "text match"


def scores_table(outcomes: Sequence[Outcome]) -> Table:
    """A row for each variant and repair, rates in percent.

    The rows called `text match` compare the texts of entities and not their places.
    """
    shown = _table("prompt", "repair")
    for name in ("P", "R", "F1", "disc. F1", "disc. sent. F1", "correct", "predicted", "gold"):
        shown.add_column(name, justify="right", no_wrap=True)
    for outcome in outcomes:
        name = outcome.variant.name
        for repair, scores in outcome.scores.items():
            one, apart = scores.overall, scores.discontinuous
            within = scores.sentences_with_discontinuous
            rates = (one.precision, one.recall, one.f1, apart.f1, within.f1)
            counts = (one.correct, one.predicted, one.gold)
            shown.add_row(name, repair, *map(_percent, rates), *map(str, counts))
            name = ""
        match = outcome.by_text
        texts = map(_percent, (match.precision, match.recall, match.f1))
        counts = (match.correct, match.predicted, match.gold)
        shown.add_row("", _MATCH, *texts, "", "", *map(str, counts))
        shown.add_section()
    return shown


def failures_table(outcomes: Sequence[Outcome]) -> Table:
    """A row for each kind of failure, a column for each variant, with what it is out of."""
    shown = _table("failure", "of")
    for outcome in outcomes:
        shown.add_column(outcome.variant.name, justify="right", no_wrap=True)
    units = dict.fromkeys(kind.unit for kind in KINDS.values())
    for unit in units:
        totals = [str(outcome.failures.totals[unit]) for outcome in outcomes]
        shown.add_row(f"all {unit}", "", *totals)
        for name, kind in KINDS.items():
            if kind.unit == unit:
                found = [str(outcome.failures.counts[name]) for outcome in outcomes]
                shown.add_row(f"  {name}", unit, *found)
    return shown


def _table(*columns: str) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        shown.add_column(name, no_wrap=True)
    return shown


def _percent(rate: float) -> str:
    return f"{100 * rate:.2f}"
