"""`trigner convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trigner.cli.options import CorpusOptions, Json
from trigner.cli.output import counted, errors, note, print_json, refuse_non_empty
from trigner.corpora import FORMATS, writable, write


def convert(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="File or folder to read.")],
    target: Annotated[Path, typer.Argument(metavar="DST", help="New file or folder.")],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help=", ".join(name for name, known in FORMATS.items() if known.write) + ".",
        ),
    ],
    json: Json = False,
    *,
    reading: CorpusOptions,
) -> None:
    """Turn annotated documents from one format into another.

    What the target format cannot hold is reported.

    Example:  trigner convert annotated/ corpus.json --to grid
    """
    refuse_non_empty(target)
    writable(to, target)  # before the work
    documents = reading.read(source).documents
    report = write(documents, target, format=to)
    note(report.notices())
    if json:
        print_json({"documents": len(documents), "files": report.files, "path": str(target)})
        return
    errors().print(
        f"{counted(len(documents), 'document')} in {counted(report.files, 'file')}: {target}",
        markup=False,
        highlight=False,
    )
