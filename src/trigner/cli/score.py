"""`trigner score`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from trigner.cli.comparing import ScoreOptions, check_page
from trigner.cli.options import (
    Encoding,
    GoldOptions,
    IdColumn,
    MapLabels,
    Missing,
    SkipBad,
    TextColumn,
    Types,
    check_labels,
    labels_of,
    of_types,
)
from trigner.cli.output import note, note_repeated
from trigner.evaluation import score as score_documents
from trigner.evaluation import sign
from trigner.machine import counted


def score(
    gold: Annotated[Path, typer.Option("--gold", help="Annotated documents.")],
    pred: Annotated[Path, typer.Option("--pred", help="Predictions on the same documents.")],
    types: Types = None,
    map_labels: MapLabels = None,
    gold_from: Annotated[
        str | None, typer.Option("--gold-from", metavar="FORMAT", help="Format of --gold.")
    ] = None,
    pred_from: Annotated[
        str | None, typer.Option("--pred-from", metavar="FORMAT", help="Format of --pred.")
    ] = None,
    skip_bad: SkipBad = False,
    encoding: Encoding = "utf-8",
    text_column: TextColumn = None,
    id_column: IdColumn = None,
    missing_annotations: Missing = "error",
    *,
    showing: ScoreOptions,
) -> None:
    """Score predicted documents against gold documents, each in any format.

    Documents are matched by id (the file name without its ending). Formats of single sentences
    (grid, inline, conll, gliner, hf-tokens) need gold that was converted to the same format. What
    `evaluate` prints for a model is what this prints for the output of `extract`.
    """
    check_page(showing.html, overwrite=showing.overwrite)
    options = partial(
        GoldOptions,
        skip_bad=skip_bad,
        encoding=encoding,
        text_column=text_column,
        id_column=id_column,
        missing_annotations=missing_annotations,
        map_labels=map_labels,
    )
    expected, found = options(from_=gold_from).read(gold), options(from_=pred_from).read(pred)
    expected, found = of_types(types, expected, found)
    check_labels(labels_of(expected), labels_of(found))
    note_repeated(gold, expected.documents)
    note_repeated(pred, found.documents)
    scores = score_documents(
        expected.documents,
        found.documents,
        signature=sign(expected.documents),
        left_out=expected.left_out + found.left_out,
    )
    if showing.json and scores.missing:
        number = counted(len(scores.missing), "document")
        note([f"no predictions for {number}: {', '.join(scores.missing)}"])
    showing.show(scores, expected.documents, found.documents)
