"""`trigner convert`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from trigner.cli.options import CorpusOptions, Json, Overwrite, labels_of, of_types, with_labels
from trigner.cli.output import documents_format, note, print_json, say_written, write_documents
from trigner.corpora import WRITABLE, Corpus, count_of, say_labels


def convert(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="File or folder to read.")],
    target: Annotated[Path, typer.Argument(metavar="DST", help="New file or folder.")],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help=", ".join(WRITABLE) + ".",
        ),
    ],
    overwrite: Overwrite = False,
    json: Json = False,
    *,
    reading: CorpusOptions,
) -> None:
    """Convert annotated documents from one format to another.

    What the target format cannot hold is reported.

    Example:  trigner convert annotated/ corpus.json --to grid
    """
    format, old = documents_format(to, target, overwrite=overwrite)
    corpus = replace(reading, types=None, map_labels=None).read(source)
    renamed = with_labels(reading.map_labels, corpus, source)
    (chosen,) = of_types(reading.types, renamed)
    note(_inconsistent(corpus, renamed, chosen))
    documents = chosen.documents
    report = write_documents(documents, target, format=format, overwrite=overwrite, old=old)
    note(report.notices())
    written = len(documents) - report.documents_dropped
    if json:
        print_json({"documents": written, "files": report.files, "path": str(target)})
        return
    say_written(written, report.files, target)


def _inconsistent(given: Corpus, renamed: Corpus, chosen: Corpus) -> Iterator[str]:
    """What became of relations, events and notes by `--types` and `--map-labels`."""
    if lost := count_of(given.documents) - count_of(chosen.documents):
        what = "relations, events or notes not written, as they name entities that --types"
        yield f"{what} leaves out: {lost:,}"
    if say_labels(chosen.documents, labels_of(given) - labels_of(renamed)):
        yield "types inside relations and events keep their names: --map-labels renames entities"
