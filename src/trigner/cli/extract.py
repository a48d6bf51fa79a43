"""`trigner extract`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from trigner.atomic_files import atomic_write, partial_of
from trigner.cli.inputs import Inputs, inputs
from trigner.cli.options import From, ModelOrBundled, RunOptions, SkipBad, Threshold
from trigner.cli.output import counted, note, progress, refuse_non_empty, results
from trigner.corpora import FORMATS, as_json_line, writable, write
from trigner.errors import InputError
from trigner.mentions import Document
from trigner.model_folder import BUNDLED
from trigner.rendering import (
    ASCII,
    UNICODE,
    Colours,
    documents_page_parts,
    drawing,
    entity_table,
)
from trigner.rendering.columns import printable

WRITABLE = (*(name for name, known in FORMATS.items() if known.write is not None), "html")


def extract(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="[TEXT | PATH... | -]",
            help="A text, files or folders, or - for standard input: one text, with --lines a"
            " text a line, with --from jsonl a document a line.",
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
    from_: From = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="Each line of standard input is a text of its own.")
    ] = False,
    skip_bad: SkipBad = False,
    *,
    running: RunOptions,
) -> None:
    """Find entities in a text, in files or in standard input.

    An argument that exists is a path, anything else a text. What can only be a path and does not
    exist is an error, and so is one word that is nearly the name of a file beside it. Character
    offsets count from 0 in the text as it stands in the file.

    Any number of documents of any length: files are checked first, then read again one document
    at a time, and each is written as soon as it is done. A text, a .txt and a file that is one JSON
    list are in memory as a whole while they are read. A file gets its name when all of it is there;
    if the work ends before, FILE.partial holds what was done. With brat, what was done is in the
    folder.

    Examples:

      trigner extract "Patients reported headache and swelling of the face, lips and tongue."

      trigner extract notes/ --model model --format brat --out found/

      trigner extract notes/ --model model --format html --out notes.html

      zcat posts.jsonl.gz | trigner extract - --from jsonl --model model --format jsonl
    """
    if format != "pretty" and format not in WRITABLE:
        raise InputError(f"unknown format {format!r}; known are: pretty, {', '.join(WRITABLE)}")
    if out is None and format not in ("pretty", "jsonl"):
        raise InputError(f"--format {format} needs --out")
    if out is not None and format == "pretty":
        raise InputError("--out needs a --format that is written: " + ", ".join(WRITABLE))
    documents = inputs(
        arguments, format=from_, skip_bad=skip_bad, lines=lines, check=_check(out, format)
    )
    run = running.load(model, threshold).documents(documents)
    found = progress(run, total=documents.total, what="extracting")
    dropped = _write(found, documents, format, out)
    note(dropped)
    note(run.statistics.notices())


def _check(out: Path | None, format: str) -> Callable[[Iterable[Document]], Iterable[Document]]:
    """What documents that are written must pass. Raises InputError when `out` cannot be written."""
    if out is None:
        return iter
    refuse_non_empty(out)
    if format == "html":
        if out.is_dir():
            raise InputError("is a folder: html is written to a file in it; name one", path=out)
        return iter
    check = writable(format, out).check
    return iter if check is None else lambda documents: check(documents, out)


def _write(
    found: Generator[Document, None, None], inputs: Inputs, format: str, out: Path | None
) -> Sequence[str]:
    """Write each document as it comes; what the format had no place for.

    When something fails before the last one, tells how many are where.
    """
    handed = Counted(found)
    try:
        with closing(found):  # a bar goes before anything is reported
            return _written(handed, inputs, format, out)
    except BrokenPipeError:
        raise  # whoever read it has gone: there is nobody to tell
    except BaseException:
        if handed.done:
            note([f"{handed.done} documents were done before: {_where(out)}"])
        raise


def _written(
    found: Iterable[Document], inputs: Inputs, format: str, out: Path | None
) -> Sequence[str]:
    if out is None and format == "jsonl":
        for document in found:
            print(as_json_line(document), flush=True)
    elif out is None:
        _print(found, many=inputs.total != 1)
    elif format == "html":
        with atomic_write(out, keep=True) as put:
            for part in documents_page_parts(found, title=inputs.title):
                put(part)
    else:
        return write(found, out, format=format).notices()
    return ()


class Counted:
    """Documents, and how many of them were dealt with when the next one was asked for."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.done = 0
        self._documents = documents

    def __iter__(self) -> Iterator[Document]:
        for document in self._documents:
            yield document
            self.done += 1


def _where(out: Path | None) -> str:
    if out is None:
        return "printed above"
    return f"in {out}" if out.is_dir() else f"in {partial_of(out)}, which ends early"


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
                # As it is: the line has its width already.
                console.print(line, highlight=False, no_wrap=True, overflow="ignore", crop=False)
            console.print(entity_table(document))
            if many:
                console.print()
        elif not many:
            console.print("no entities found")
    if many:
        console.print(counted(total, "entity", "entities"), highlight=False)
