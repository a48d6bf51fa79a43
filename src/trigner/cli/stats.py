"""`trigner stats`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trigner.cli.options import (
    Encoding,
    From,
    Json,
    Overwrite,
    SkipBad,
    Split,
    Types,
    print_left_out,
    read_documents,
)
from trigner.cli.output import comma_list, errors, print_json, refuse_non_empty, results
from trigner.evaluation import check_figure, describe, plot_gaps, statistics_table


def stats(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="Annotated documents.")],
    overwrite: Overwrite = False,
    json: Json = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Write the figure of gap lengths (.png, .svg, .pdf)."),
    ] = None,
    types: Types = None,
    from_: From = None,
    split: Split = None,
    skip_bad: SkipBad = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Describe annotated documents: how many entities, how many discontinuous, how wide their gaps.

    The rows are those of the paper's data statistics; the plot is its figure of token gaps.
    """
    check_figure(plot)
    if plot is not None:
        refuse_non_empty(plot, overwrite=overwrite)
    corpus = read_documents(
        path,
        format=from_,
        skip_bad=skip_bad,
        split=split,
        encoding=encoding,
        types=comma_list(types),
    )
    statistics = describe(corpus.documents)
    if json:
        print_json({**statistics.as_json(), "left_out": corpus.left_out})
    else:
        results().print(statistics_table(statistics))
        print_left_out(corpus)
    if plot is not None:
        plot_gaps(statistics, plot)
        errors().print(f"figure: {plot}", markup=False, highlight=False)
