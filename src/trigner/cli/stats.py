"""`trigner stats`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trigner.cli.options import CorpusOptions, Json, Overwrite, Plot, print_left_out
from trigner.cli.output import (
    errors,
    note_repeated,
    note_types_alike,
    print_json,
    refuse_non_empty,
    tables,
)
from trigner.evaluation import check_figure, describe, plot_gaps, statistics_table


def stats(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="Annotated documents.")],
    json: Json = False,
    plot: Plot = None,
    overwrite: Overwrite = False,
    *,
    reading: CorpusOptions,
) -> None:
    """Describe annotated documents: how many entities, how many discontinuous, how wide their gaps.

    The rows are those of the paper's data statistics; the plot is its figure of token gaps.
    """
    check_figure(plot)
    if plot is not None:
        refuse_non_empty(plot, overwrite=overwrite)
    corpus = reading.read(path)
    note_repeated(path, corpus.documents)
    note_types_alike(path, corpus.documents)
    statistics = describe(corpus.documents)
    if json:
        print_json({**statistics.as_json(), "left_out": corpus.left_out})
    else:
        tables().print(statistics_table(statistics))
        print_left_out(corpus)
    if plot is not None:
        plot_gaps(statistics, plot, overwrite=overwrite)
        errors().print(f"figure: {plot}", markup=False, highlight=False)
