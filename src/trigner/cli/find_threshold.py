"""`trigner find-threshold`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from trigner.cli.options import (
    GoldOptions,
    Json,
    ModelOrBundled,
    Overwrite,
    Plot,
    RunOptions,
    check_labels,
    labels_of,
    print_left_out,
)
from trigner.cli.output import (
    comma_list,
    errors,
    note,
    note_repeated,
    note_unknown_types,
    print_json,
    progress,
    refuse_non_empty,
    tables,
)
from trigner.corpora import with_types
from trigner.errors import InputError
from trigner.evaluation import (
    ALL,
    Curve,
    Score,
    check_figure,
    curves,
    percentages,
    plot_curves,
    refuse_all,
)
from trigner.models import BUNDLED


def find_threshold(
    data: Annotated[
        Path, typer.Option("--data", help="Annotated documents that training did not see.")
    ],
    model: ModelOrBundled = BUNDLED,
    precision: Annotated[
        float | None,
        typer.Option(
            "--precision",
            min=0.0,
            max=1.0,
            metavar="P",
            help="Find the lowest threshold that reaches this precision.",
        ),
    ] = None,
    plot: Plot = None,
    overwrite: Overwrite = False,
    json: Json = False,
    *,
    reading: GoldOptions,
    running: RunOptions,
) -> None:
    """Find the lowest score at which to keep entities, for each type and for all together.

    It is the threshold with the best F1, or with --precision the lowest one that reaches it. Pass
    it to --threshold of extract. Choose it on dev, not on test. --plot draws precision against
    recall.

    Example:  trigner find-threshold --model model --data dev/ --plot curve.png
    """
    check_figure(plot)
    if plot is not None:
        refuse_non_empty(plot, overwrite=overwrite)
    corpus = reading.read(data)
    documents = corpus.documents
    extract = running.load(model)
    check_labels(labels_of(corpus), extract.labels)
    if not any(document.entities for document in documents):
        raise InputError("has no entity: thresholds are found on annotated documents", path=data)
    note_repeated(data, documents)
    note_unknown_types(documents, extract.labels)
    types = comma_list(reading.types)
    refuse_all(labels_of(corpus).union(types or extract.labels))
    run = extract.documents(documents)
    found = list(progress(run, total=len(documents), what="scoring"))
    note(run.statistics.notices())
    by_label = curves(documents, with_types(found, types))
    # One type alone is all types.
    shown = {label: c for label, c in by_label.items() if label != ALL or len(by_label) != 2}
    chosen = {
        label: curve.best if precision is None else curve.at_precision(precision)
        for label, curve in by_label.items()
    }
    if json:
        print_json(
            {
                label: None if point is None else _as_json(point, by_label[label], corpus.left_out)
                for label, point in chosen.items()
            }
        )
    else:
        _print(shown, chosen)
        print_left_out(corpus)
    if plot is not None:
        plot_curves(shown, plot, overwrite=overwrite)
        errors().print(f"figure: {plot}", markup=False, highlight=False)


def _as_json(point: tuple[float, Score], curve: Curve, left_out: int) -> dict[str, Any]:
    threshold, score = point
    without = {"without_threshold": curve.points[0][1].as_json()}
    return {"threshold": threshold, **score.as_json(), **without, "left_out": left_out}


def _print(by_label: Mapping[str, Curve], chosen: Mapping[str, tuple[float, Score] | None]) -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("type", overflow="fold")
    for column in ("threshold", "P", "R", "F1", "without: P", "R", "F1"):
        table.add_column(column, justify="right", no_wrap=True)
    for label in by_label:
        point = chosen[label]
        kept = ["never reached", "", "", ""]
        if point is not None:
            kept = [_rounded_down(point[0]), *percentages(point[1])]
        table.add_row(Text(label), *kept, *percentages(by_label[label].points[0][1]))
    tables().print(table)


def _rounded_down(threshold: float) -> str:
    # Rounded up it would drop the very prediction that it is the score of; scores have as many
    # digits, of which computing in binary must not take one away.
    return f"{int(threshold * 10_000 + 1e-6) / 10_000:.4f}"
