"""Scores for people: a table that fits 80 columns, on a terminal and in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from trigner.evaluation.comparison import Comparison
from trigner.evaluation.counts import Score
from trigner.evaluation.relaxed import Rates
from trigner.evaluation.scores import Scores
from trigner.machine import counted

_ROWS = {
    "overall": "overall",
    "discontinuous": "discontinuous",
    "continuous": "continuous",
    "sentences_with_discontinuous": "sentences with discontinuous",
    "sentences_without_discontinuous": "sentences without",
}

_PLURALS = {"crosses a sentence boundary": "cross a sentence boundary"}
"""Reasons that read differently of several entities."""


def report_table(names: Sequence[str], numbers: Sequence[str], **look: Any) -> Table:
    """An empty table: columns of names, folded where space is short, then columns of numbers."""
    shown = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), **look
    )
    for name in names:
        shown.add_column(name, overflow="fold")
    for name in numbers:
        shown.add_column(name, justify="right", no_wrap=True)
    return shown


def percentages(score: Score) -> list[str]:
    """The cells of precision, recall and F1; dashes where there is nothing to find or found."""
    if not score.gold and not score.predicted:
        return ["–"] * 3
    return [f"{100 * rate:.2f}" for rate in (score.precision, score.recall, score.f1)]


def slices_table(scores: Scores) -> Table:
    """Slices, then labels when there are several, as rows; rates in percent.

    A single label stands in the head.

    Notes below count gold that is out of reach and gold documents without predictions.
    """
    only = list(scores.per_type)
    shown = report_table(
        (f"entities: {escape(only[0])}" if len(only) == 1 else "entities",),
        ("P", "R", "F1", "correct", "predicted", "gold"),
        caption=Text("\n".join(_notes(scores)), style="none") if _notes(scores) else None,
        caption_justify="left",
    )
    for name, score in scores.slices.items():
        shown.add_row(_ROWS[name], *_numbers(score))
    if len(scores.per_type) > 1:
        shown.add_section()
        for label, slices in scores.per_type.items():
            shown.add_row(Text(label), *_numbers(slices.overall))
    return shown


def relaxed_table(found: Mapping[str, Rates]) -> Table:
    """The rates of each kind of relaxed score, in percent."""
    shown = report_table(("relaxed",), ("P", "R", "F1"))
    for kind, rates in found.items():
        row = (rates.precision, rates.recall, rates.f1)
        shown.add_row(kind, *(f"{100 * rate:.2f}" for rate in row))
    return shown


def errors_table(comparison: Comparison) -> Table:
    """How many entities of gold and prediction are of which kind."""
    shown = report_table(("kind",), ("gold", "predicted"))
    for kind, count in comparison.counts().items():
        shown.add_row(kind, f"{count.gold:,}", f"{count.predicted:,}")
    return shown


def _numbers(score: Score) -> list[str]:
    counts = (score.correct, score.predicted, score.gold)
    return [*percentages(score), *(f"{n:,}" for n in counts)]


def _notes(scores: Scores) -> list[str]:
    notes = []
    if scores.unreachable:
        gold = scores.overall.gold
        notes.append(
            f"{scores.unreachable:,} of {counted(gold, 'gold entity', 'gold entities')} are out of"
            f" reach: {_listed(scores.unreachable_reasons)}"
        )
    others = {reason: n for reason, n in (scores.unreachable_by or {}).items() if n}
    if others:
        named = ", ".join(f"{n:,} to {reason}" for reason, n in others.items())
        notes.append(f"Also lost before prediction: {named}")
    if scores.left_out:
        notes.append(f"{counted(scores.left_out, 'invalid annotation')} skipped")
    if scores.bounded:
        notes.append(
            f"{counted(scores.bounded, 'sentence')} hit a bound of decoding: the result may be"
            " incomplete"
        )
    if scores.calibration_error is not None:
        notes.append(
            f"Calibration error {100 * scores.calibration_error:.1f} %: how far scores are from the"
            " share that is right"
        )
    if scores.missing:
        ids = ", ".join(scores.missing[:3]) + (", ..." if len(scores.missing) > 3 else "")
        notes.append(f"{counted(len(scores.missing), 'gold document')} without predictions: {ids}")
    return notes


def _listed(reasons: Mapping[str, int]) -> str:
    return ", ".join(
        counted(n, reason, _PLURALS.get(reason, reason)) for reason, n in reasons.items()
    )
