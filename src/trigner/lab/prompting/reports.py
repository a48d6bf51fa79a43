"""Results of several variants side by side, as tables for a terminal or a file."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from trigner.evaluation import Score, percentages, report_table
from trigner.lab.prompting.experiment import VariantResult
from trigner.lab.prompting.failures import FAILURE_KINDS

_MATCH = "text match"


def scores_table(results: Sequence[VariantResult]) -> Table:
    """Below each variant a row for each repair, rates in percent.

    The rows called `text match` compare the texts of entities and ignore their positions.
    """
    # Headers of several lines, so that five rates and three counts leave room for the names.
    numbers = ("P", "R", "F1", "disc.\nF1", "disc.\nsent.\nF1", "correct", "pre-\ndicted", "gold")
    shown = report_table(("prompt\n  repair",), numbers)
    for result in results:
        shown.add_row(result.variant.name)
        for repair, scores in result.scores.items():
            parts = (scores.discontinuous, scores.sentences_with_discontinuous)
            f1 = [percentages(part)[-1] for part in parts]
            rates = [*percentages(scores.overall), *f1]
            shown.add_row(f"  {repair}", *rates, *_counts(scores.overall))
        match = result.by_text
        shown.add_row(f"  {_MATCH}", *percentages(match), "", "", *_counts(match))
        shown.add_section()
    return shown


def failures_table(results: Sequence[VariantResult]) -> Table:
    """Below each unit a row for each kind of failure in it, a column for each variant."""
    names = [result.variant.name.replace("-", "-\n") for result in results]
    shown = report_table(("failure",), names)
    units = dict.fromkeys(kind.unit for kind in FAILURE_KINDS.values())
    for unit in units:
        totals = [str(result.failures.totals[unit]) for result in results]
        shown.add_row(f"all {unit}", *totals)
        for name, kind in FAILURE_KINDS.items():
            if kind.unit == unit:
                found = [str(result.failures.counts[name]) for result in results]
                shown.add_row(f"  {name}", *found)
    return shown


def _counts(score: Score) -> list[str]:
    return [str(number) for number in (score.correct, score.predicted, score.gold)]
