"""`trigner extract`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from trigner.cli.options import BatchSize, Device, From, ModelFolder, SkipBad, read_documents
from trigner.cli.output import progress, refuse_non_empty, results, tell
from trigner.corpora import FORMATS, as_json_line, write
from trigner.errors import InputError
from trigner.mentions import Document

WRITABLE = tuple(name for name, known in FORMATS.items() if known.write is not None)

# Something with a folder separator or a file ending, and no blank: meant as a path.
LOOKS_LIKE_PATH = re.compile(r"^\S*(/\S+|\\\S+|\.[A-Za-z][A-Za-z0-9]{1,4}|/)$")


def extract(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="[TEXT | PATH... | -]",
            help="A text, files or folders, or - for standard input.",
        ),
    ],
    model: ModelFolder,
    format: Annotated[
        str, typer.Option("--format", help=f"pretty, {', '.join(WRITABLE)}.")
    ] = "pretty",
    out: Annotated[
        Path | None,
        typer.Option("--out", help="New folder (brat) or file; standard output if not given."),
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0.0, max=1.0, help="Least score of an entity.")
    ] = 0.0,
    device: Device = "auto",
    batch_size: BatchSize = 32,
    from_: From = None,
    skip_bad: SkipBad = False,
) -> None:
    """Find entities in a text, in files or in standard input.

    An argument that exists is a path, anything else a text; one that looks like a path and does not
    exist is an error. Character offsets count from 0 in the text as it stands in the file.

    Examples:

      trigner extract "Pain and cramping in my hands and lower legs." --model model

      trigner extract notes/ --model model --format brat --out found/
    """
    if format != "pretty" and format not in WRITABLE:
        raise InputError(f"unknown format {format!r}; known are: pretty, {', '.join(WRITABLE)}")
    if out is None and format not in ("pretty", "jsonl"):
        raise InputError(f"--format {format} needs --out")
    if out is not None and format == "pretty":
        raise InputError("--out needs a --format that can be read again: " + ", ".join(WRITABLE))
    if out is not None:
        refuse_non_empty(out)
    from trigner.inference import load

    documents = _documents(inputs, from_, skip_bad)
    pipeline = load(model, device=device, batch_size=batch_size, threshold=threshold)
    found = progress(pipeline.documents(documents), total=len(documents), what="extracting")
    if out is not None:
        report = write(list(found), out, format=format)
        tell(report.notices())
    elif format == "jsonl":
        for document in found:
            print(as_json_line(document))
    else:
        _print(found, many=len(documents) > 1)
    tell(pipeline.tally.notices())


def _documents(inputs: Sequence[str], format: str | None, skip_bad: bool) -> list[Document]:
    documents: list[Document] = []
    for number, argument in enumerate(inputs):
        if argument == "-":
            documents.append(Document("stdin", _standard_input()))
        elif _exists(argument):
            documents += read_documents(Path(argument), format=format, skip_bad=skip_bad).documents
        elif LOOKS_LIKE_PATH.match(argument):
            raise InputError("no such file or folder", path=argument)
        elif not _is_unicode(argument):
            raise InputError("is not UTF-8", path=f"argument {number + 1}")
        else:
            documents.append(Document(f"text-{number + 1}", argument))
    seen: set[str] = set()
    for document in documents:
        if document.id in seen:
            raise InputError(f"two of the inputs have a document called {document.id!r}")
        seen.add(document.id)
    return documents


def _exists(argument: str) -> bool:
    # An empty text is no name for the folder one is in.
    try:
        return argument != "" and Path(argument).exists()
    except (OSError, ValueError):  # no name of a file: too long, or with a null character
        return False


def _is_unicode(argument: str) -> bool:
    # Python keeps bytes of the command line that are not UTF-8 as lone surrogates.
    return not any("\ud800" <= character <= "\udfff" for character in argument)


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8", path="standard input") from error


def _print(documents: Iterator[Document], *, many: bool) -> None:
    console = results()
    total = 0
    for document in documents:
        if many:
            console.print(document.id, style="bold", markup=False, highlight=False)
        table = Table(box=None, header_style="bold", pad_edge=False)
        table.add_column("type", no_wrap=True)
        table.add_column("entity", overflow="fold")
        table.add_column("characters", overflow="fold")
        table.add_column("score", justify="right", no_wrap=True)
        for entity in document.entities:
            total += 1
            # The mark shows where something that is no part of the entity stands in between.
            pieces = (document.text[start:end] for start, end in entity.fragments)
            surface = " … ".join(" ".join(piece.split()) for piece in pieces)
            table.add_row(
                Text(entity.label),  # not what rich takes for markup
                Text(surface),
                " ".join(f"{start}-{end}" for start, end in entity.fragments),
                f"{entity.score:.3f}" if entity.score is not None else "",
            )
        if document.entities:
            console.print(table)
        elif not many:
            console.print("no entities found")
    if many:
        console.print(f"{total} entities", highlight=False)
