"""`trigner convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trigner.cli.options import Encoding, From, Overwrite, SkipBad, Split, Types, read_documents
from trigner.cli.output import (
    comma_list,
    errors,
    files_to_replace,
    note,
    refuse_non_empty,
    visible,
    write_documents,
)
from trigner.corpora import FORMATS, writable


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
    overwrite: Overwrite = False,
    encoding: Encoding = "utf-8",
) -> None:
    """Turn annotated documents from one format into another.

    What the target format cannot hold is reported.

    Example:  trigner convert annotated/ corpus.json --to grid
    """
    refuse_non_empty(target, overwrite=overwrite)
    format = writable(to, target)  # before the work
    old = []
    if format.writes_folder and overwrite:
        old = files_to_replace(target, format.endings)
    documents = read_documents(
        source,
        format=from_,
        skip_bad=skip_bad,
        split=split,
        encoding=encoding,
        types=comma_list(types),
    ).documents
    report = write_documents(documents, target, format=format, overwrite=overwrite, old=old)
    note(report.notices())
    errors().print(
        f"{len(documents)} documents in {report.files} files: {visible(str(target))}",
        markup=False,
        highlight=False,
    )
