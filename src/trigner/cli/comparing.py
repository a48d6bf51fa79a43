"""What `evaluate` and `score` share: scores, kinds of errors and gold next to predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from trigner.cli.options import Json, Overwrite
from trigner.cli.output import note, print_json, refuse_non_empty, results, tables
from trigner.errors import InputError
from trigner.evaluation import (
    Scores,
    compare,
    errors_table,
    relaxed_scores,
    relaxed_table,
    slices_table,
)
from trigner.machine import write_text
from trigner.mentions import Document
from trigner.rendering import comparison_page


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


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """How scores are shown."""

    json: Json = False
    errors: Annotated[
        bool, typer.Option("--errors", help="Count the entities with each kind of error.")
    ] = False
    relaxed: Annotated[
        bool,
        typer.Option(
            "--relaxed",
            help="Also score overlap, characters, SemEval-2013's strict, exact, partial and type,"
            " and the average over types.",
        ),
    ] = False
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write an HTML page with gold and predictions side by side.",
        ),
    ] = None
    overwrite: Overwrite = False

    def show(self, scores: Scores, gold: Sequence[Document], predicted: Sequence[Document]) -> None:
        """Print scores as a table or JSON, the kinds of errors when asked, and write the page."""
        comparison = compare(gold, predicted) if self.errors or self.html is not None else None
        counted = comparison if self.errors else None
        relaxed = relaxed_scores(gold, predicted) if self.relaxed else {}
        if self.json:
            kinds = {} if counted is None else counted.counts()
            errors = {"errors": {kind: asdict(count) for kind, count in kinds.items()}}
            forgiving = {"relaxed": {kind: asdict(rates) for kind, rates in relaxed.items()}}
            more = {**(errors if kinds else {}), **(forgiving if relaxed else {})}
            print_json({**scores.as_json(), **more})
        else:
            tables().print(slices_table(scores))
            if relaxed:
                results().print()
                tables().print(relaxed_table(relaxed))
            if counted is not None:
                results().print()
                tables().print(errors_table(counted))
        if self.html is not None and comparison is not None:
            write_text(self.html, comparison_page(comparison), overwrite=self.overwrite)
            note([f"gold and predictions side by side: {self.html}"])
