"""Figures as SVG, ready to be put into a page."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from trigner.evaluation import Statistics, figure_for, plain_legend, plot_gaps, save_figure
from trigner.lab.studies.grid import named_at
from trigner.lab.studies.results import CHOSEN_BY
from trigner.lab.studies.summary import Summary, SystemResults

_PANELS = (("overall", "all entities"), ("discontinuous", "discontinuous entities"))


def score_figure(summary: Summary, axis: str) -> str:
    """Test F1 over the values of an axis: mean and deviation of the seeds.

    The first baseline is a line. Numbers are placed by value, on a log scale when the
    largest is 20 times the smallest; other values, such as no window at all, side by side.
    Empty when there is no result.
    """
    points = [s for s in summary.systems if axis in s.point and s.results]
    if not points:
        return ""
    figure = figure_for(Path("scores.svg"), width=9, height=3.4)
    values: list[Any] = []
    for own in points:
        if own.point[axis] not in values:  # a list among them has no hash
            values.append(own.point[axis])
    numeric = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
    places = [float(value) if numeric else float(at) for at, value in enumerate(values)]
    base = next((s for s in summary.systems if s.name in summary.baselines[:1]), None)
    for axes, (slice_, title) in zip(figure.subplots(1, 2), _PANELS, strict=True):
        handles, names = [], []
        for name, members in _lines(points, axis).items():
            spreads = [s.spread("overall", "test", slice_) for s in members]
            at = [places[values.index(member.point[axis])] for member in members]
            shown = [(x, s) for x, s in zip(at, spreads, strict=True) if s is not None]
            drawn = axes.errorbar(
                [x for x, _ in shown],
                [spread.mean for _, spread in shown],
                yerr=[spread.deviation or 0 for _, spread in shown],
                marker="o",
                capsize=4,
            )
            if name:
                handles.append(drawn)
                names.append(name)
        spread = None if base is None else base.spread("overall", "test", slice_)
        if base is not None and spread is not None:
            handles.append(axes.axhline(spread.mean, color="0.45", linestyle="--"))
            names.append(base.name)
            band = spread.deviation or 0
            axes.axhspan(spread.mean - band, spread.mean + band, color="0.45", alpha=0.15)
        if numeric and min(values) > 0 and max(values) >= 20 * min(values):
            axes.set_xscale("log")
        if not numeric:
            ticks = ["none" if value is None else str(value) for value in values]
            axes.set_xticks(places, ticks, parse_math=False)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel(axis.rpartition(".")[2].replace("_", " "))
        axes.set_ylabel("test F1 (%)")
        if handles:
            plain_legend(axes, handles, names, fontsize=8)
    return _svg(figure)


def difference_figure(summary: Summary, baseline: str) -> str:
    """Test F1 of each system less that of a baseline: difference and 95 % interval.

    A row a system, in the order of declaration; by what chose the model. Empty when nothing is
    tested against it.
    """
    of_baseline = [own for own in summary.comparisons if own.baseline == baseline and own.tests]
    rows = list(dict.fromkeys(own.system for own in of_baseline))
    if not rows:
        return ""
    figure = figure_for(Path("differences.svg"), width=9, height=1.5 + 0.32 * len(rows))
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (slice_, title) in zip(panels, _PANELS, strict=True):
        axes.axvline(0, color="0.45", linewidth=1)
        for chosen_by, marker, fill, shift in zip(
            CHOSEN_BY, ("o", "s"), ("full", "none"), (-0.14, 0.14), strict=True
        ):
            shown = [
                (rows.index(own.system) + shift, own.tests[slice_])
                for own in of_baseline
                if own.chosen_by == chosen_by and slice_ in own.tests
            ]
            axes.errorbar(
                [100 * test.difference for _, test in shown],
                [at for at, _ in shown],
                # Rounding can put a bound a hair beyond the difference.
                xerr=[
                    [100 * max(0, test.difference - test.low) for _, test in shown],
                    [100 * max(0, test.high - test.difference) for _, test in shown],
                ],
                fmt=marker,
                fillstyle=fill,
                markersize=4,
                linewidth=1.2,
                capsize=2,
                label=f"chosen by {chosen_by} F1 on dev",
            )
        # A name with two dollar signs would be read as a formula.
        axes.set_yticks(range(len(rows)), rows, parse_math=False)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel(f"points of F1 against {baseline}", parse_math=False)
        axes.locator_params(axis="x", nbins=6)
        axes.grid(axis="x", color="0.9")
        axes.set_axisbelow(True)
    panels[0].set_ylim(len(rows) - 0.5, -0.5)  # the first on top
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8
    )
    return _svg(figure)


def gap_figure(statistics: Statistics) -> str:
    """The figure of `trigner stats --plot`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gaps.svg"
        plot_gaps(statistics, path)
        return _inline(path.read_text(encoding="utf-8"))


def _lines(points: Sequence[SystemResults], axis: str) -> dict[str, list[SystemResults]]:
    """Systems by their names without the axis: one line each."""
    lines: dict[str, list[SystemResults]] = {}
    for own in points:
        others = {name: value for name, value in own.point.items() if name != axis}
        lines.setdefault(named_at(own.declared, others), []).append(own)
    return lines


def _svg(figure: Any) -> str:
    held = StringIO()
    save_figure(figure, held, "svg")
    return _inline(held.getvalue())


def _inline(svg: str) -> str:
    """The `svg` element alone, as wide as its container."""
    start = svg.index("<svg")
    head, rest = svg[start:].split(">", 1)
    return re.sub(r' (?:width|height)="[^"]*"', "", head) + ">" + rest.strip()
