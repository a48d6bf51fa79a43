"""Precision and recall at every threshold on the score, and the threshold with the best F1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trigner.errors import InputError
from trigner.evaluation.calibration import predictions_of
from trigner.evaluation.counts import Score
from trigner.evaluation.figures import figure_for, plain_legend, save_figure
from trigner.evaluation.matching import matched
from trigner.mentions import Document

ALL = "all types"


@dataclass(frozen=True, slots=True)
class Curve:
    """Scores of one label (or of all) by threshold, from keeping everything to keeping nothing.

    `points` are (threshold, score of the predictions with at least that score), by increasing
    threshold; there is one for each distinct score of a prediction, and 0.
    """

    points: tuple[tuple[float, Score], ...]

    @property
    def best(self) -> tuple[float, Score]:
        """The point with the highest F1; of several the one with the lowest threshold."""
        return max(self.points, key=lambda point: (point[1].f1, -point[0]))

    def at_precision(self, wanted: float) -> tuple[float, Score] | None:
        """The lowest threshold from which precision is at least `wanted`; None if it never is."""
        return next((p for p in self.points if p[1].precision >= wanted and p[1].predicted), None)


def refuse_all(labels: Iterable[str]) -> None:
    """Raises InputError when a label is what the curve of all labels is called."""
    if ALL in labels:
        raise InputError(
            f"a type is called {ALL!r}, as all types together are here: rename it, or leave it out"
            " with --types"
        )


def curves(gold: Iterable[Document], predicted: Iterable[Document]) -> dict[str, Curve]:
    """The curve of all labels together (under `ALL`), then of each label.

    Predictions are right as in `evaluation.score`. Raises InputError for a prediction without a
    score, for a label called `ALL`, and as `evaluation.score` does.
    """
    pairs = matched(gold, predicted)
    expected = Counter(label for d, _ in pairs for label, _ in set(map(d.key, d.entities)))
    found: dict[str, list[tuple[float, bool]]] = {label: [] for label in expected}
    for label, own in predictions_of(pairs).items():
        found[label] = list(zip(own.scores, own.right, strict=True))
    refuse_all(found)
    together = [each for own in found.values() for each in own]
    return {
        ALL: curve(together, expected.total()),
        **{label: curve(found[label], expected[label]) for label in sorted(found)},
    }


def curve(pairs: Sequence[tuple[float, bool]], gold: int) -> Curve:
    """The curve of predictions, each with its score and whether it is right, of so many gold."""
    ordered = sorted(pairs)
    right, predicted = sum(ok for _, ok in ordered), len(ordered)
    points = [(0.0, Score(correct=right, predicted=predicted, gold=gold))]
    for index, (score, ok) in enumerate(ordered):
        if score > points[-1][0]:
            points.append((score, Score(correct=right, predicted=predicted, gold=gold)))
        right, predicted = right - ok, len(ordered) - index - 1
    return Curve(tuple(points))


def plot_curves(found: Mapping[str, Curve], path: str | Path, *, overwrite: bool = True) -> None:
    """Draw precision against recall of each curve, its best point marked; the suffix of `path` is
    the format.

    Raises TrignerError when matplotlib is not installed (extra `plots`) and, without `overwrite`,
    for a file that is there; InputError when matplotlib has no format of that suffix.
    """
    path = Path(path)
    figure = figure_for(path, width=5.5, height=5)
    axes = figure.subplots()
    lines, names = [], []
    for label, curve in found.items():
        drawn = [score for _, score in curve.points if score.predicted]
        threshold, best = curve.best
        (line,) = axes.plot(
            [score.recall for score in drawn],
            [score.precision for score in drawn],
            linewidth=2 if label == ALL else 1,
        )
        lines.append(line)
        names.append(f"{label}: F1 {100 * best.f1:.1f} at {threshold:.2f}")
        axes.plot([best.recall], [best.precision], "o", color=line.get_color())
    axes.set(xlabel="recall", ylabel="precision", xlim=(0, 1.02), ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    plain_legend(axes, lines, names, loc="lower left", fontsize="small")
    save_figure(figure, path, overwrite=overwrite)
