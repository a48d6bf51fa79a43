"""`trigner score`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from trigner.cli.comparing import Errors, Html, check_page, print_scores
from trigner.cli.options import (
    Encoding,
    Json,
    Missing,
    Overwrite,
    SkipBad,
    Types,
    read_documents,
)
from trigner.cli.output import comma_list, note
from trigner.evaluation import score as score_documents
from trigner.evaluation import sign


def score(
    gold: Annotated[Path, typer.Option("--gold", help="Annotated documents.")],
    pred: Annotated[Path, typer.Option("--pred", help="Predictions on the same documents.")],
    json: Json = False,
    errors: Errors = False,
    html: Html = None,
    overwrite: Overwrite = False,
    types: Types = None,
    gold_from: Annotated[
        str | None, typer.Option("--gold-from", metavar="FORMAT", help="Format of --gold.")
    ] = None,
    pred_from: Annotated[
        str | None, typer.Option("--pred-from", metavar="FORMAT", help="Format of --pred.")
    ] = None,
    skip_bad: SkipBad = False,
    encoding: Encoding = "utf-8",
    missing_annotations: Missing = "error",
) -> None:
    """Score predicted documents against gold documents, each in any format.

    Documents are matched by id (the file name without its ending). Grid JSON and inline text
    hold sentences: score them against gold in the same format. What `evaluate` prints for
    a model is what this prints for the output of `extract`.
    """
    check_page(html, overwrite=overwrite)
    read = partial(
        read_documents,
        skip_bad=skip_bad,
        types=comma_list(types),
        encoding=encoding,
        missing_annotations=missing_annotations,
    )
    expected, found = read(gold, format=gold_from), read(pred, format=pred_from)
    scores = score_documents(
        expected.documents,
        found.documents,
        signature=sign(expected.documents),
        left_out=expected.left_out + found.left_out,
    )
    if json and scores.missing:
        note([f"no predictions for {len(scores.missing)} documents: {', '.join(scores.missing)}"])
    print_scores(
        scores,
        expected.documents,
        found.documents,
        json=json,
        errors=errors,
        page=html,
        overwrite=overwrite,
    )
