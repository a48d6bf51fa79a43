"""`trigner link`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from trigner.cli.annotating import LINK_THRESHOLD, Codes, LinkThreshold, linker, match_of
from trigner.cli.inputs import is_file_or_folder
from trigner.cli.options import FileOptions, Overwrite
from trigner.cli.output import (
    documents_format,
    note,
    print_json,
    progress,
    results,
    say_written,
    visible_json,
    write_documents,
)
from trigner.corpora import WRITABLE, as_json_line
from trigner.errors import InputError
from trigner.evaluation import percentages
from trigner.machine import counted
from trigner.mentions import Document
from trigner.rendering import printable

if TYPE_CHECKING:
    from trigner.linking import Linked, Linker


def link(
    input: Annotated[
        str,
        typer.Argument(
            metavar="PATH | TEXT",
            help="Documents with entities, in any format that is read; or one text to look up.",
        ),
    ],
    vocabulary: Annotated[
        Path,
        typer.Option(
            "--vocabulary",
            metavar="FILE",
            help="CSV with the columns code, name and synonyms (with | between them).",
        ),
    ],
    candidates: Annotated[
        int,
        typer.Option("--candidates", min=1, metavar="N", help="Candidates per text, best first."),
    ] = 5,
    link_threshold: LinkThreshold = LINK_THRESHOLD,
    encoder: Annotated[
        str | None,
        typer.Option(
            "--encoder",
            metavar="NAME",
            help="Also compare meanings, with this encoder, such as minilm; needs the extra train.",
        ),
    ] = None,
    evaluate: Annotated[
        bool,
        typer.Option(
            "--evaluate",
            help="Score codes against the field `code` of the input, and find the threshold.",
        ),
    ] = False,
    format: Annotated[
        str, typer.Option("--format", help=f"With --out: {', '.join(WRITABLE)}.")
    ] = "jsonl",
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the documents with codes here.")
    ] = None,
    overwrite: Overwrite = False,
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print JSON: one document per line; one object for a text or with --evaluate.",
        ),
    ] = False,
    *,
    reading: FileOptions,
) -> None:
    """Give entities codes from your own vocabulary.

    The text of an entity, its fragments joined by blanks, is compared with every name and synonym:
    the same text or the same words score 1, others by their similarity. With --encoder the score is
    the mean of that and the similarity of meaning. An entity gets the fields `code`, when the best
    score reaches --link-threshold, and `candidates`.

    Without --out, prints each distinct text with its best row and how it matched (exact, the same
    words, or alike); with --json the documents, one per line, or the results of --evaluate. With
    --evaluate nothing is written: choose the threshold on documents that you have coded yourself.

    Examples:

      trigner link "pain in both legs" --vocabulary findings.csv

      trigner link found.jsonl --vocabulary findings.csv --out coded.jsonl

      trigner link coded-by-hand/ --vocabulary findings.csv --evaluate
    """
    is_path = is_file_or_folder(input)
    _refuse(out=out, evaluate=evaluate, is_path=is_path)
    if out is not None:
        target, old = documents_format(format, out, overwrite=overwrite)
    documents = reading.read(Path(input)).documents if is_path else ()
    used = linker(
        vocabulary,
        threshold=link_threshold,
        candidates=candidates,
        encoder=encoder,
        encoding=reading.encoding,
    )
    if not is_path:
        _print_candidates(input, used, json=json)
    elif evaluate:
        _evaluate(used, documents, json=json)
    else:
        linked = [used.link(d) for d in progress(documents, total=len(documents), what="linking")]
        _note_codes(documents, linked)
        codes = Codes()
        codes.add(entity for document in linked for entity in document.entities)
        if out is not None:
            report = write_documents(linked, out, format=target, overwrite=overwrite, old=old)
            note(report.notices())
            written = len(linked) - report.documents_dropped
            say_written(written, report.files, out, more=f"; {codes}")
        elif json:
            for document in linked:
                print(visible_json(as_json_line(document)))
        else:
            _print(linked)
            results().print(str(codes), markup=False, highlight=False)


def _refuse(*, out: Path | None, evaluate: bool, is_path: bool) -> None:
    if (out is not None or evaluate) and not is_path:
        raise InputError("--out and --evaluate need documents: name a file or folder")
    if out is not None and evaluate:
        raise InputError("--evaluate writes no documents: omit --out, or link without --evaluate")


def _note_codes(before: Sequence[Document], after: Sequence[Document]) -> None:
    """What became of the codes of the input."""
    pairs = [
        (old.fields["code"], new.fields.get("code"))
        for one, other in zip(before, after, strict=True)
        for old, new in zip(one.entities, other.entities, strict=True)
        if old.fields.get("code") is not None
    ]
    replaced = sum(new not in (None, old) for old, new in pairs)
    removed = sum(new is None for _, new in pairs)
    kept = len(pairs) - replaced - removed
    found = [f"{n:,} {done}" for n, done in ((kept, "kept"), (replaced, "replaced")) if n]
    if removed:
        why = "as nothing in the vocabulary reaches --link-threshold"
        found.append(f"{removed:,} removed, {why}")
    if pairs:
        note([f"codes of the input: {', '.join(found)}"])


def _print_candidates(text: str, linker: Linker, *, json: bool) -> None:
    if json:
        print_json({"text": text, **linker.fields(text)})
        return
    found = linker.find(text)
    if not found:
        results().print("no similar entry in the vocabulary")
        return
    table = _table("code", "name", "nearest term", "match", "score")
    for own in found:
        table.add_row(*_plain(own.code, own.name, own.term), own.match, f"{own.score:.3f}")
    results().print(table)


def _print(documents: Sequence[Document]) -> None:
    """Each different text, the most frequent first, with the code that it was given."""
    entities = [entity for document in documents for entity in document.entities]
    rows = [(" ".join(entity.text.split()), match_of(entity)) for entity in entities]
    example = dict(zip(rows, entities, strict=True))
    counts = Counter(rows)
    table = _table("entities", "text", "code", "name", "match", "score")
    for (text, match), number in counts.most_common():
        best = next(iter(example[text, match].fields.get("candidates", ())), None)
        shown = (best["code"], best["name"]) if best and match else ("", "")
        score = f"{best['score']:.3f}" if best else ""
        table.add_row(str(number), *_plain(text, *shown), match, score)
    if counts:
        results().print(table)


def _plain(*cells: str) -> list[Text]:
    return [Text(printable(cell)) for cell in cells]  # not what rich takes for markup


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        is_number = column in ("score", "entities", "threshold", "P", "R", "F1")
        table.add_column(column, justify="right" if is_number else "left", overflow="fold")
    return table


def _evaluate(linker: Linker, documents: Sequence[Document], *, json: bool) -> None:
    from trigner.linking import evaluate

    found = evaluate(linker, documents)
    if json:
        print_json(found.as_json())
        return
    console = results()
    candidates = counted(linker.candidates, "candidate")
    console.print(
        f"with a code: {found.coded:,} of {counted(found.entities, 'entity', 'entities')};"
        f" it is the best candidate for {found.first:,} and among {candidates} for {found.among:,}",
        highlight=False,
    )
    matches = ", ".join(f"{kind} {number}" for kind, number in sorted(found.matches.items()))
    console.print(f"best candidates: {matches}", highlight=False)
    _print_thresholds(found, linker.threshold)


def _print_thresholds(found: Linked, used: float) -> None:
    points = found.curve.points
    at = next((point for point in points if point[0] >= used), None)
    table = _table("", "threshold", "P", "R", "F1")
    rows = (
        ("every best candidate", points[0]),
        ("--link-threshold", None if at is None else (used, at[1])),
        ("best F1", found.curve.best),
        ("P at least 95 %", found.curve.at_precision(0.95)),
    )
    for name, point in rows:
        if point is not None:
            table.add_row(name, f"{point[0]:.4f}", *percentages(point[1]))
    results().print(table)
