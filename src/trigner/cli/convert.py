"""`trigner convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trigner.cli.options import Encoding, From, SkipBad, Split, Types, read_documents
from trigner.cli.output import comma_list, errors, note, refuse_non_empty, visible
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
    from_: From = None,
    split: Split = None,
    types: Types = None,
    skip_bad: SkipBad = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Turn annotated documents from one format into another.

    What the target format cannot hold is reported.

    Example:  trigner convert annotated/ corpus.json --to grid
    """
    refuse_non_empty(target)
    writable(to, target)  # before the work
    documents = read_documents(
        source,
        format=from_,
        skip_bad=skip_bad,
        split=split,
        encoding=encoding,
        types=comma_list(types),
    ).documents
    report = write(documents, target, format=to)
    note(report.notices())
    errors().print(
        f"{len(documents)} documents in {report.files} files: {visible(str(target))}",
        markup=False,
        highlight=False,
    )
