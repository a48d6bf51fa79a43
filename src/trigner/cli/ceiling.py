"""`trigner ceiling`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from trigner.cli.options import From, Json, SkipBad, Split, Types, print_left_out, read_documents
from trigner.cli.output import comma_list, print_json, results
from trigner.evaluation import ceiling as measure
from trigner.schemes import SCHEMES
from trigner.schemes import scheme as make_scheme


def ceiling(
    data: Annotated[Path, typer.Option("--data", help="Annotated documents.")],
    json: Json = False,
    types: Types = None,
    from_: From = None,
    split: Split = None,
    skip_bad: SkipBad = False,
) -> None:
    """Measure what each tagging scheme could reach at best on these annotations.

    The annotations are encoded and decoded again. What is lost is lost before any model is trained:
    to the splitting of sentences, to words that do not align, or to the scheme.
    """
    corpus = read_documents(
        data, format=from_, skip_bad=skip_bad, split=split, types=comma_list(types)
    )
    documents = corpus.documents
    labels = sorted({entity.label for document in documents for entity in document.entities})
    found = {name: measure(documents, make_scheme(name, labels)) for name in SCHEMES}
    if json:
        print_json(
            {
                name: {**reached.as_json(), "left_out": corpus.left_out}
                for name, reached in found.items()
            }
        )
        return
    table = Table(title="encode and decode the gold", title_justify="left")
    table.add_column("scheme")
    for column in ("F1", "discontinuous F1", "gold", "lost", "of it by the scheme", "spurious"):
        table.add_column(column, justify="right")
    for name, reached in found.items():
        table.add_row(
            name,
            f"{100 * reached.overall.f1:.2f}",
            f"{100 * reached.discontinuous.f1:.2f}",
            f"{reached.overall.gold:,}",
            f"{reached.lost:,}",
            f"{reached.lost_by_scheme:,}",
            f"{reached.spurious:,}",
        )
    console = results()
    console.print(table)
    print_left_out(corpus)
    for reason, number in next(iter(found.values())).lost_by.items():
        console.print(f"{number:,} gold entities lost: {reason}", highlight=False)
