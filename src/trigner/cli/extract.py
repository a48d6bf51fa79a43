"""`trigner extract`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from trigner.cli.annotating import AnnotatingOptions, Codes
from trigner.cli.inputs import Inputs, inputs, refuse_input
from trigner.cli.options import (
    Encoding,
    From,
    IdColumn,
    ModelOrBundled,
    Overwrite,
    SkipBad,
    TextColumn,
    Threshold,
)
from trigner.cli.output import counting, note, refuse_non_empty, results, say_written, visible_json
from trigner.cli.partial import Journal, Output, begun
from trigner.corpora import WRITABLE, LineWriter, Reading, writable, write
from trigner.errors import InputError
from trigner.machine import atomic_write, counted, is_written_into
from trigner.mentions import Document
from trigner.models import BUNDLED, fingerprint, read_description
from trigner.rendering import (
    ASCII,
    UNICODE,
    Colours,
    documents_page_parts,
    drawing,
    entity_table,
    printable,
)

if TYPE_CHECKING:
    from trigner.pipeline import PartialResult

OUTPUTS = (*WRITABLE, "html")
"""What `--out` can be."""


def extract(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="[TEXT | PATH... | -]",
            help="A text, files or folders, or - for standard input: one text, with --lines one"
            " text per line, with --from jsonl one document per line.",
        ),
    ],
    model: ModelOrBundled = BUNDLED,
    format: Annotated[
        str, typer.Option("--format", help=f"pretty, {', '.join(OUTPUTS)}.")
    ] = "pretty",
    out: Annotated[
        Path | None,
        typer.Option("--out", help="New folder (brat, cas) or file; standard output if not given."),
    ] = None,
    threshold: Threshold = "0",
    from_: From = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="Treat each line of standard input as one text.")
    ] = False,
    skip_bad: SkipBad = False,
    overwrite: Overwrite = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted extraction to --out.")
    ] = False,
    encoding: Encoding = "utf-8",
    text_column: TextColumn = None,
    id_column: IdColumn = None,
    *,
    running: AnnotatingOptions,
) -> None:
    """Find entities in a text, in files or in standard input.

    An argument that exists is a path, anything else a text. An argument that can only be a path and
    does not exist is an error, and so is a single word similar to the name of an existing file.
    Character offsets count from 0 in the text as it is in the file.

    Any number of documents of any length can be given: files are checked first, then read again one
    document at a time, and each is written as soon as it is done. A text, a .txt file and a file
    that is one JSON list are in memory as a whole while they are read.

    An output file appears when it is complete; until then FILE.partial holds the finished documents
    as JSON lines (for a folder, FOLDER/.partial). After an interruption the same command with
    --resume continues after the last of them. A device, a FIFO or the shell's >(...) is written to
    as entities are found.

    Examples:

      trigner extract "Patients reported headache and swelling of the face, lips and tongue."

      trigner extract notes/ --model model --format brat --out found/

      trigner extract notes/ --model model --format html --out notes.html

      trigner extract notes/ --model model --format jsonl --out >(gzip > found.jsonl.gz)

      zcat posts.jsonl.gz | trigner extract - --from jsonl --model model --format jsonl
    """
    from trigner.pipeline import RunStatistics

    if out is not None:
        refuse_input(out, arguments, format=from_)
    output = _output(out, format, resume=resume, overwrite=overwrite)
    check = iter if output is None else _check(output)
    reading = Reading(
        skip_bad=skip_bad, encoding=encoding, text_column=text_column, id_column=id_column
    )
    documents = inputs(arguments, format=from_, reading=reading, lines=lines, check=check)
    statistics = RunStatistics()

    codes = Codes()
    before = 0

    def partial_results(given: Iterable[Document]) -> Iterator[PartialResult]:
        extractor = running.load(model, threshold, encoding=encoding)
        for partial_result in extractor.partial_results(given, statistics):
            codes.add(partial_result.entities)
            yield partial_result

    if output is None or is_written_into(output.path):
        dropped = _stream(partial_results(documents), documents, output, format)
    else:
        made_with = {
            **{"--model": fingerprint(model), "--threshold": threshold, "--format": format},
            **{"--from": from_, "--lines": lines, "--skip-bad": skip_bad, "--encoding": encoding},
            **{"--text-column": text_column, "--id-column": id_column},
            **running.made_with(),
            "input": documents.fingerprint,
        }
        with begun(output, made_with, resume=resume, overwrite=overwrite) as journal:
            before = journal.done
            dropped = _to_file(journal, partial_results, documents)
    note(dropped)
    note(statistics.notices())
    if running.link is not None and codes.entities:
        since = " since the extraction was resumed" if before else ""
        note([f"{codes}{since} (threshold {running.link_threshold:g})"])
    if statistics.sentences and not codes.entities:
        note([f"nothing was found. {read_description(model).about}"])


def _output(out: Path | None, format: str, *, resume: bool, overwrite: bool) -> Output | None:
    """Where to write, None for standard output. Raises InputError when that cannot be done."""
    if format != "pretty" and format not in OUTPUTS:
        raise InputError(f"unknown format {format!r}; known are: pretty, {', '.join(OUTPUTS)}")
    if out is None and format not in ("pretty", "jsonl"):
        raise InputError(f"--format {format} needs --out")
    if out is None:
        if resume or overwrite:
            raise InputError("--resume and --overwrite need --out")
        return None
    if format == "pretty":
        raise InputError("--out needs a --format that is written: " + ", ".join(OUTPUTS))
    if format == "html" and out.is_dir():
        raise InputError("is a folder: html is written to a file in it; name one", path=out)
    output = Output(out, None if format == "html" else writable(format, out))
    if is_written_into(out):
        if resume:
            raise InputError("is not a regular file: output to it cannot be resumed", path=out)
        refuse_non_empty(out)
    else:
        output.check(resume=resume, overwrite=overwrite)
    return output


def _check(output: Output) -> Callable[[Iterable[Document]], Iterable[Document]]:
    """What documents that are written must pass."""
    check = None if output.format is None else output.format.check
    return iter if check is None else lambda documents: check(documents, output.path)


def _to_file(
    journal: Journal,
    partial_results: Callable[[Iterable[Document]], Iterator[PartialResult]],
    inputs: Inputs,
) -> Sequence[str]:
    """Add to what is done until all is; what the format cannot hold."""
    if journal.finished:
        journal.discard()
        return [f"{journal.output.path} is complete: there is nothing to resume"]
    if journal.done:
        note([f"already done: {counted(journal.done, 'document')}"])
    try:
        remaining = partial_results(journal.remaining(inputs))
        with journal.appending() as add, closing(_shown(remaining, inputs, journal.done)) as found:
            for partial_result in found:
                add(partial_result)
        report = journal.publish(inputs.title)
    except BaseException:
        if journal.done:
            where = f"in {journal.output.partial}; --resume continues from there"
            note([f"{counted(journal.done, 'document')} done: {where}"])
        else:
            journal.discard()
        raise
    say_written(journal.done - report.documents_dropped, report.files, journal.output.path)
    return report.notices()


def _stream(
    partial_results: Iterator[PartialResult], inputs: Inputs, output: Output | None, format: str
) -> Sequence[str]:
    """Write what is found as it comes; what the format cannot hold.

    When something fails before the last document, tells how many were written.
    """
    finished = Counted(partial_results)
    try:
        with closing(
            _shown(iter(finished), inputs)
        ) as found:  # a bar goes before anything is reported
            return _written(found, inputs, output, format)
    except BrokenPipeError:
        raise  # whoever read it has gone: there is nobody to tell
    except BaseException:
        if finished.done:
            where = "printed above" if output is None else f"in {output.path}"
            note([f"{counted(finished.done, 'document')} already done: {where}"])
        raise


def _written(
    found: Iterator[PartialResult], inputs: Inputs, output: Output | None, format: str
) -> Sequence[str]:
    from trigner.pipeline import assembled

    if output is None and format == "pretty":
        _print(found, many=inputs.total != 1)
    elif output is None:
        _write_lines(found, lambda text: print(visible_json(text), end="", flush=True))
    elif format in ("jsonl", "html"):
        with atomic_write(output.path) as put:
            if format == "jsonl":
                _write_lines(found, put)
            else:
                for part in documents_page_parts(assembled(found), title=inputs.title):
                    put(part)
    else:
        return write(assembled(found), output.path, format=format).notices()
    return ()


def _write_lines(found: Iterator[PartialResult], put: Callable[[str], object]) -> None:
    writer = LineWriter(put)
    for partial_result in found:
        writer.add(partial_result.document, partial_result.entities, is_last=partial_result.is_last)


class Counted:
    """Partial results, and how many documents were dealt with when the next one was asked for."""

    def __init__(self, partial_results: Iterable[PartialResult]) -> None:
        self.done = 0
        self._partial_results = partial_results

    def __iter__(self) -> Iterator[PartialResult]:
        for partial_result in self._partial_results:
            yield partial_result
            self.done += partial_result.is_last


def _shown(
    partial_results: Iterator[PartialResult], inputs: Inputs, done: int = 0
) -> Generator[PartialResult, None, None]:
    """Partial results, counted on standard error: documents, or the characters of a single one."""
    with counting("extracting") as show:
        for partial_result in partial_results:
            yield partial_result
            done += partial_result.is_last
            of, length = partial_result.document.id, len(partial_result.document.text)
            if inputs.total == 1:
                show(partial_result.end, length, " characters")
            elif partial_result.is_last:
                show(done, inputs.total)
            else:
                show(
                    done, inputs.total, f", {partial_result.end:,} of {length:,} characters of {of}"
                )


def _print(partial_results: Iterable[PartialResult], *, many: bool) -> None:
    """Draw what is found as it comes: of a long document several drawings, each with its table."""
    console = results()
    marks = UNICODE if console.encoding.startswith("utf") else ASCII
    colours = Colours()
    total = in_document = start = 0
    for found in partial_results:
        document = replace(found.document, entities=found.entities)
        if many and start == 0:
            console.print(Text(printable(document.id), style="bold"), highlight=False)
        if document.entities:
            is_whole = found.is_last and start == 0
            part = document if is_whole else _cut(document, start, found.end)
            for line in drawing(
                part, width=console.width, marks=marks, colours=colours, is_whole=is_whole
            ):
                # As it is: the line has its width already.
                console.print(line, highlight=False, no_wrap=True, overflow="ignore", crop=False)
            console.print(entity_table(document))
            if many or not found.is_last:
                console.print()
        total += len(document.entities)
        in_document += len(document.entities)
        start = found.end
        if found.is_last:
            if not (in_document or many):
                console.print("no entities found")
            in_document = start = 0
    if many:
        console.print(counted(total, "entity", "entities"), highlight=False)


def _cut(document: Document, start: int, end: int) -> Document:
    """Characters `[start, end)` of a document as one of their own; its entities lie in them."""
    moved = [
        replace(entity, fragments=tuple((a - start, b - start) for a, b in entity.fragments))
        for entity in document.entities
    ]
    return Document(document.id, document.text[start:end], tuple(moved))
