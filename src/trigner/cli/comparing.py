"""What `evaluate` and `score` share: scores, kinds of errors and gold beside predictions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from trigner.atomic_files import write_text
from trigner.cli.output import note, print_json, refuse_non_empty, results
from trigner.errors import InputError
from trigner.evaluation import Scores, compare, errors_table, table
from trigner.mentions import Document
from trigner.rendering import comparison_page

Errors = Annotated[
    bool, typer.Option("--errors", help="Count the entities with each kind of error.")
]
Html = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        help="Write an HTML page with gold and predictions side by side.",
    ),
]


def check_page(
    path: Path | None, *, may_exist: bool = False, overwrite: bool | None = None
) -> None:
    """Raises InputError when a page cannot be written there, before any work is done.

    A file that is there is in the way unless it `may_exist`: it is written anew then. So it is with
    `overwrite`, the option of that name if the command has it.
    """
    if path is not None:
        if path.is_dir():
            raise InputError("is a folder; name a file in it", path=path)
        refuse_non_empty(path, overwrite=may_exist or overwrite)


def print_scores(
    scores: Scores,
    gold: Sequence[Document],
    predicted: Sequence[Document],
    *,
    json: bool,
    errors: bool,
    page: Path | None,
    overwrite: bool,
) -> None:
    """Print scores as a table or JSON, the kinds of errors when asked, and write the page."""
    comparison = compare(gold, predicted) if errors or page is not None else None
    if json:
        found = scores.as_json()
        if errors and comparison is not None:
            found["errors"] = {
                kind: {"gold": count.gold, "predicted": count.predicted}
                for kind, count in comparison.counts().items()
            }
        print_json(found)
    else:
        results().print(table(scores))
        if errors and comparison is not None:
            results().print()
            results().print(errors_table(comparison))
    if page is not None and comparison is not None:
        write_text(page, comparison_page(comparison), overwrite=overwrite)
        note([f"gold and predictions side by side: {page}"])
