"""`trigner extract`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from trigner.cli.options import (
    BatchSize,
    Device,
    From,
    ModelOrBundled,
    SkipBad,
    Threshold,
    load_extractor,
    read_documents,
)
from trigner.cli.output import progress, refuse_non_empty, results, tell
from trigner.corpora import FORMATS, as_json_line, write
from trigner.corpora.reading import write_text
from trigner.errors import InputError
from trigner.mentions import Document
from trigner.model_folder import BUNDLED
from trigner.rendering import ASCII, UNICODE, Colours, documents_page, drawing, entity_table
from trigner.rendering.columns import printable

WRITABLE = (*(name for name, known in FORMATS.items() if known.write is not None), "html")

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
    model: ModelOrBundled = BUNDLED,
    format: Annotated[
        str, typer.Option("--format", help=f"pretty, {', '.join(WRITABLE)}.")
    ] = "pretty",
    out: Annotated[
        Path | None,
        typer.Option("--out", help="New folder (brat) or file; standard output if not given."),
    ] = None,
    threshold: Threshold = "0",
    device: Device = "auto",
    batch_size: BatchSize = 32,
    from_: From = None,
    skip_bad: SkipBad = False,
) -> None:
    """Find entities in a text, in files or in standard input.

    An argument that exists is a path, anything else a text; one that looks like a path and does not
    exist is an error. Character offsets count from 0 in the text as it stands in the file.

    Examples:

      trigner extract "Pain and cramping in my hands and lower legs."

      trigner extract notes/ --model model --format brat --out found/

      trigner extract notes/ --model model --format html --out notes.html
    """
    if format != "pretty" and format not in WRITABLE:
        raise InputError(f"unknown format {format!r}; known are: pretty, {', '.join(WRITABLE)}")
    if out is None and format not in ("pretty", "jsonl"):
        raise InputError(f"--format {format} needs --out")
    if out is not None and format == "pretty":
        raise InputError("--out needs a --format that is written: " + ", ".join(WRITABLE))
    if out is not None:
        refuse_non_empty(out)
    if out is not None and format == "html" and out.is_dir():
        raise InputError("is a folder: html is written to a file in it; name one", path=out)
    documents = _documents(inputs, from_, skip_bad)
    pipeline = load_extractor(model, device=device, batch_size=batch_size, threshold=threshold)
    found = progress(pipeline.documents(documents), total=len(documents), what="extracting")
    if out is not None and format == "html":
        write_text(out, documents_page(found, title=_title(documents)))
    elif out is not None:
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


def _title(documents: Sequence[Document]) -> str:
    return documents[0].id if len(documents) == 1 else f"{len(documents)} documents"


def _print(documents: Iterable[Document], *, many: bool) -> None:
    console = results()
    marks = UNICODE if console.encoding.startswith("utf") else ASCII
    colours = Colours()
    total = 0
    for document in documents:
        total += len(document.entities)
        if many:
            console.print(Text(printable(document.id), style="bold"), highlight=False)
        if document.entities:
            for line in drawing(document, width=console.width, marks=marks, colours=colours):
                _print_line(console, line)
            console.print(entity_table(document))
            if many:
                console.print()
        elif not many:
            console.print("no entities found")
    if many:
        console.print(f"{total} entities", highlight=False)


def _print_line(console: Console, line: Text) -> None:
    # As it is: the line has its width already.
    console.print(line, highlight=False, no_wrap=True, overflow="ignore", crop=False)
