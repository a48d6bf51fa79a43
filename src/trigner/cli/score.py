"""`trigner score`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trigner.cli.options import Json, SkipBad, Types, read_documents
from trigner.cli.output import comma_list, print_json, results, tell
from trigner.evaluation import score as score_documents
from trigner.evaluation import sign, table


def score(
    gold: Annotated[Path, typer.Option("--gold", help="Annotated documents.")],
    pred: Annotated[Path, typer.Option("--pred", help="Predictions on the same documents.")],
    json: Json = False,
    types: Types = None,
    gold_from: Annotated[
        str | None, typer.Option("--gold-from", metavar="FORMAT", help="Format of --gold.")
    ] = None,
    pred_from: Annotated[
        str | None, typer.Option("--pred-from", metavar="FORMAT", help="Format of --pred.")
    ] = None,
    skip_bad: SkipBad = False,
) -> None:
    """Score files against files, in any two formats.

    Documents are matched by their id (a file's name without its ending). What `evaluate` prints for
    a model is what this prints for the output of `extract`.
    """
    expected = read_documents(gold, format=gold_from, skip_bad=skip_bad, types=comma_list(types))
    found = read_documents(pred, format=pred_from, skip_bad=skip_bad, types=comma_list(types))
    scores = score_documents(
        expected.documents,
        found.documents,
        signature=str(sign(expected.documents)),
        left_out=expected.left_out + found.left_out,
    )
    if json and scores.missing:
        tell([f"no prediction for {len(scores.missing)} documents: {', '.join(scores.missing)}"])
    if json:
        print_json(scores.as_json())
    else:
        results().print(table(scores))
